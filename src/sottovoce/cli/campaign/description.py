"""A campaign in words."""

from __future__ import annotations

from sottovoce.cli.console import plural
from sottovoce.http_client.replies import printable
from sottovoce.requester.views import CampaignView, SummaryView, guarantees_of

LONGEST_TITLE, LONGEST_SENTENCE = 60, 500


def guarantee_lines(campaign: CampaignView) -> list[str]:
    """A campaign's guarantee per answer and per worker, with a warning if it is weak."""
    promised = campaign["guarantee"]
    per_answer, per_worker = guarantees_of(promised)
    lines = [
        f"guarantee for up to {plural(campaign['answers'], 'answer')} per worker: {per_answer}, "
        f"{per_worker}"
    ]
    return [*lines, *(words for words in (promised["odds"], promised["warning"]) if words)]


def devices_lines(campaign: CampaignView) -> list[str]:
    """A warning if devices would stop early or refuse, with a crowd for which they would not."""
    devices = campaign["devices"]
    if devices is None or devices["warning"] is None:
        return []
    crowd, most = devices["workers"], plural(devices["most"], "task")
    return [devices["warning"], *([f"Proposal: {crowd:,} workers x {most} each."] if crowd else [])]


def summary_words(summary: SummaryView | None, waiting: int) -> str:
    """How truths were inferred, and how many reports are not included yet."""
    later = f"; {plural(waiting, 'report')} not included yet" if waiting else ""
    if summary is None:
        return f"no truths yet{later or ': no report has arrived'}"
    if summary["problem"] is not None:
        return f"no truths: {summary['problem']}{later}"
    end = "converged" if summary["converged"] else "stopped at the round limit"
    known = f", {plural(summary['known'], 'known truth')}" if summary.get("known") else ""
    settled = ", and further reports hardly change the truths" if summary["settled"] else ""
    return (
        f"{summary['method']}: {plural(summary['tasks'], 'task')}, "
        f"{plural(summary['workers'], 'worker')}, {plural(summary['reports'], 'report')}{known}, "
        f"{plural(summary['rounds'], 'round')}, {end}{settled}{later}"
    )


def printable_line(text: str) -> str:
    """A text from the server, safe for a terminal and short enough for a line."""
    return printable(text, longest=LONGEST_TITLE)


def printable_sentence(text: str) -> str:
    """A sentence from the server, safe for a terminal."""
    return printable(text, longest=LONGEST_SENTENCE)


def titled(campaign: CampaignView) -> str:
    """A campaign's title, marked if its workers are simulated."""
    stamp = "SIMULATED " if campaign["simulated"] else ""
    return stamp + printable_line(campaign["title"])
