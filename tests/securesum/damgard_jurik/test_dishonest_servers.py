"""A server's attempts to open less than the sum of all, and a worker's refusals."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import pytest
from tests.securesum.damgard_jurik.stars import SPEC, TERMS, Star, frame, public_and_shares, total

from sottovoce.errors import SealedRefused
from sottovoce.securesum.damgard_jurik.contributions import commitment, read_units, units_content
from sottovoce.securesum.damgard_jurik.encryption import Blinds
from sottovoce.securesum.damgard_jurik.number_theory import invert, mpz
from sottovoce.securesum.damgard_jurik.proofs import ProofResponse
from sottovoce.securesum.star.confirmation import listed
from sottovoce.securesum.star.messages import bundle, read_frame, unbundle
from sottovoce.securesum.star.suite import Phase, RoundStart

VICTIM = 1
Replies = Mapping[int, bytes]


def _until_contributed() -> tuple[Star, dict[int, bytes]]:
    """All have contributed; nobody has seen the others' contributions."""
    star = Star().play(Phase.CONTRIBUTE)
    said = star.replies()
    for number, reply in said.items():
        star.take(reply, number)
    return star, said


def _until_confirmed() -> tuple[Star, dict[int, bytes]]:
    """All have confirmed; nobody has been asked to open."""
    star = Star().play(Phase.CONFIRM)
    said = star.replies()
    for number, reply in said.items():
        star.take(reply, number)
    return star, said


def _until_answered() -> tuple[Star, dict[int, ProofResponse]]:
    """All have answered for their contributions; nobody has been asked to confirm."""
    public, _ = public_and_shares()
    star, _ = _until_contributed()
    said = star.replies()
    for number, reply in said.items():
        star.take(reply, number)
    frames = {number: read_frame(TERMS, reply) for number, reply in said.items()}
    return star, {
        number: ProofResponse.read(public, each.payload, "nobody")
        for number, each in frames.items()
    }


def _refuses(star: Star, turn: bytes, words: str) -> None:
    """The victim refuses, names the server, and answers nothing more."""
    with pytest.raises(SealedRefused, match=words) as refusal:
        star.workers[VICTIM].on(turn)
    assert refusal.value.culprit == "the server"
    with pytest.raises(SealedRefused, match="left for good"):
        star.workers[VICTIM].on(star.asked(Phase.OPEN, {}, b""))


def _shown(star: Star, said: Replies, members: Collection[int]) -> bytes:
    """The turn that shows these members' contributions."""
    return star.asked(Phase.CONTRIBUTE, {}, bundle([said[each] for each in members]), step=1)


def _proposed(star: Star, answers: Mapping[int, ProofResponse], members: Collection[int]) -> bytes:
    """The turn that proposes a set, with the correct sum of its members' answers."""
    public, _ = public_and_shares()
    answer = ProofResponse.added(
        public, [answers[each] for each in set(members) if each in answers]
    )
    return star.asked(Phase.CONFIRM, {"members": list(members)}, answer.content(public))


@pytest.mark.parametrize("members", [[1], [1, 2], [1, 2, 3]])
def test_contributions_of_too_few_are_not_answered_for(members: list[int]) -> None:
    star, said = _until_contributed()
    words = f"{len(members)} workers take part; fewer than 4 are not opened"
    _refuses(star, _shown(star, said, members), words)


def test_contributions_without_ones_own_are_not_answered_for() -> None:
    star, said = _until_contributed()
    _refuses(star, _shown(star, said, [2, 3, 4, 5]), "own contribution is not in the set")


@pytest.mark.parametrize("members", [[1], [1, 2], [1, 2, 3]])
def test_a_set_below_the_minimum_is_not_confirmed(members: list[int]) -> None:
    star, answers = _until_answered()
    words = f"the set has {len(members)} workers; fewer than 4 are not opened"
    _refuses(star, _proposed(star, answers, members), words)


SETS: dict[str, tuple[Any, str]] = {
    "without the worker itself": ([2, 3, 4, 5], "own contribution is not in the set"),
    "one twice": ([1, 2, 3, 4, 4], "is not in order"),
    "out of order": ([2, 1, 3, 4], "is not in order"),
    "a stranger": ([1, 2, 3, 4, 7], "workers who did not contribute"),
    "no numbers": ([1, 2, 3, "4"], "no list of members"),
    "true is no number": ([True, 2, 3, 4], "no list of members"),
}


@pytest.mark.parametrize("case", SETS)
def test_a_set_that_is_none_is_not_confirmed(case: str) -> None:
    members, words = SETS[case]
    star, answers = _until_answered()
    _refuses(star, _proposed(star, answers, members), words)


def test_answers_of_another_set_do_not_hold() -> None:
    star, answers = _until_answered()
    public, _ = public_and_shares()
    fewer = ProofResponse.added(public, [answers[each] for each in (1, 2, 3, 4)])
    turn = star.asked(Phase.CONFIRM, {"members": [1, 2, 3, 4, 5]}, fewer.content(public))
    _refuses(star, turn, "a worker in the set does not know what is in its contribution")


@pytest.mark.parametrize("content", [b"", bytes(500), b"\xff" * 231])
def test_what_is_no_answer_is_refused(content: bytes) -> None:
    star, _ = _until_answered()
    turn = star.asked(Phase.CONFIRM, {"members": [1, 2, 3, 4]}, content)
    _refuses(star, turn, "too long, too short or out of range")


def test_a_contribution_is_not_counted_twice() -> None:
    star, said = _until_contributed()
    _refuses(star, _shown(star, said, [1, 2, 3, 4, 4]), "by a repeated or unknown worker")


def test_two_overlapping_sets_are_never_both_opened() -> None:
    """Three workers see one set, three another: neither gets its four confirmations."""
    star, answers = _until_answered()
    everybody = _proposed(star, answers, [1, 2, 3, 4, 5, 6])
    fewer = _proposed(star, answers, [1, 3, 4, 5, 6])
    confirms = [star.workers[each].on(everybody) for each in (1, 2, 3)]
    confirms += [star.workers[each].on(fewer) for each in (4, 5, 6)]
    mixed = bundle([each for each in confirms[:4] if each is not None])
    _refuses(star, star.asked(Phase.OPEN, {}, mixed), "worker 4 has confirmed a different set")


def test_workers_who_were_shown_different_contributions_do_not_confirm_the_same_set() -> None:
    """Worker 6 is shown to some only. Their challenges differ, so no answers fit both."""
    public, _ = public_and_shares()
    star, said = _until_contributed()
    some, all_ = _shown(star, said, [1, 2, 3, 4, 5]), _shown(star, said, [1, 2, 3, 4, 5, 6])
    replies = {each: star.workers[each].on(some if each < 4 else all_) for each in (1, 2, 3, 4, 5)}
    answers = [
        ProofResponse.read(public, read_frame(TERMS, reply or b"").payload, "nobody")
        for reply in replies.values()
    ]
    content = ProofResponse.added(public, answers).content(public)
    turn = star.asked(Phase.CONFIRM, {"members": [1, 2, 3, 4, 5]}, content)
    _refuses(star, turn, "a worker in the set does not know")


def test_a_second_set_in_the_same_round_is_not_confirmed() -> None:
    star, answers = _until_answered()
    star.workers[VICTIM].on(_proposed(star, answers, [1, 2, 3, 4, 5, 6]))
    turn = _proposed(star, answers, [1, 2, 3, 4, 5])
    _refuses(star, turn, "two different turns for one place")


def test_a_worker_answers_one_challenge_a_round() -> None:
    """Two answers with the same announcement would reveal its values."""
    star, said = _until_contributed()
    star.workers[VICTIM].on(_shown(star, said, [1, 2, 3, 4, 5, 6]))
    _refuses(star, _shown(star, said, [1, 2, 3, 4, 5]), "two different turns for one place")


def test_a_reblinded_ciphertext_of_an_earlier_round_is_not_opened() -> None:
    """Worker 2 colludes with the server. In round 1 it commits to the victim's reply of round 0."""
    public, _ = public_and_shares()
    star = Star(rounds=2)
    star.play(Phase.CONTRIBUTE)
    victims = read_frame(TERMS, star.replies()[VICTIM]).payload
    blinds = Blinds(public)
    units = [
        each * blinds.take().value % public.modulus
        for each in read_units(public, victims, 3, "nobody")
    ]
    content = units_content(public, units)
    star.play(Phase.COMMIT, 1)
    said = star.replies()
    commits = {each: read_frame(TERMS, reply).fields["commit"] for each, reply in said.items()}
    start = RoundStart(TERMS, 1, SPEC, frozenset(), "")
    commits[2] = commitment(start, 2, content)
    turn = star.asked(Phase.CONTRIBUTE, {"commits": listed(commits)}, b"", round_=1)
    honest = [1, 3, 4, 5, 6]
    sent = {each: star.workers[each].on(turn) or b"" for each in honest}
    sent[2] = frame(Phase.CONTRIBUTE, 2, {}, content, round_=1)
    shown = bundle([sent[each] for each in sorted(sent)])
    turn = star.asked(Phase.CONTRIBUTE, {}, shown, step=1, round_=1)
    replies = {each: star.workers[each].on(turn) or b"" for each in honest}
    answers = {
        each: ProofResponse.read(public, read_frame(TERMS, reply).payload, "nobody")
        for each, reply in replies.items()
    }
    for guess in (answers[VICTIM], ProofResponse(mpz(0), mpz(0))):
        added = ProofResponse.added(public, [*answers.values(), guess])
        turn = star.asked(
            Phase.CONFIRM, {"members": [1, 2, 3, 4, 5, 6]}, added.content(public), round_=1
        )
        worker = VICTIM if guess is answers[VICTIM] else 3
        with pytest.raises(SealedRefused, match="a worker in the set does not know"):
            star.workers[worker].on(turn)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_nothing_is_opened_without_enough_confirmations(count: int) -> None:
    star, confirms = _until_confirmed()
    shown = bundle([confirms[each] for each in sorted(confirms)[:count]])
    turn = star.asked(Phase.OPEN, {}, shown)
    _refuses(star, turn, f"{count} workers have confirmed this set; 4 are needed")


def test_one_confirmation_does_not_count_twice() -> None:
    star, confirms = _until_confirmed()
    shown = bundle([confirms[each] for each in (1, 2, 3, 3)])
    _refuses(star, star.asked(Phase.OPEN, {}, shown), "by a repeated or unknown worker")


def test_a_worker_opens_once_whatever_the_step() -> None:
    star, confirms = _until_confirmed()
    shown = bundle([confirms[each] for each in (1, 2, 3, 4)])
    assert star.workers[VICTIM].on(star.asked(Phase.OPEN, {}, shown)) is not None
    _refuses(star, star.asked(Phase.OPEN, {}, shown, step=1), "phase open is not the next one")


def test_a_phase_cannot_be_left_out() -> None:
    star = Star().play(Phase.CONTRIBUTE)
    _refuses(star, star.asked(Phase.OPEN, {}, b""), "phase open is not the next one")


def test_a_proof_is_not_given_before_anything_was_opened() -> None:
    star, _ = _until_confirmed()
    _refuses(star, star.asked(Phase.PROVE, {}, b""), "phase prove is not the next one")


def _crafted(said: Replies, make: Callable[[list[int], list[int]], list[int]]) -> bytes:
    """A contribution that worker 2 makes of the victim's ciphertexts and its own."""
    public, _ = public_and_shares()

    def units(number: int) -> list[int]:
        return read_units(public, said[number][-3 * public.length :], 3, "nobody")

    made = make(units(VICTIM), units(2))
    return frame(Phase.CONTRIBUTE, 2, {}, units_content(public, made))


def _copy(victim: list[int], own: list[int]) -> list[int]:
    return victim


def _quotient(victim: list[int], own: list[int]) -> list[int]:
    """c_v · c_x^-1: with it the total would be of the others, and twice the victim's."""
    modulus = public_and_shares()[0].modulus
    return [one * invert(other, modulus) % modulus for one, other in zip(victim, own, strict=True)]


@pytest.mark.parametrize("make", [_copy, _quotient])
def test_what_was_made_of_a_seen_ciphertext_was_not_committed_to(
    make: Callable[[list[int], list[int]], list[int]],
) -> None:
    star, said = _until_contributed()
    forged = {**said, 2: _crafted(said, make)}
    turn = _shown(star, forged, sorted(forged))
    _refuses(star, turn, "the contribution of worker 2 is not what it committed to")


def test_a_contribution_of_another_session_or_round_is_refused() -> None:
    star, said = _until_contributed()
    public, _ = public_and_shares()
    later = frame(Phase.CONTRIBUTE, 2, {}, said[2][-3 * public.length :], round_=1)
    turn = _shown(star, {**said, 2: later}, sorted(said))
    _refuses(star, turn, "a contribution is of another round")


COMMITS: dict[str, tuple[Callable[[list[list[Any]]], Any], str]] = {
    "its own is another": (lambda each: each, "own commitment is not in the list"),
    "its own is missing": (lambda each: each[1:], "own commitment is not in the list"),
    "out of order": (lambda each: each[::-1], "not in rising order"),
    "no list": (lambda each: "commits", "no list"),
    "a stranger": (lambda each: [*each, [7, "0" * 64]], "worker 7 has left this round"),
    "no digest": (lambda each: [[1, "g" * 64]], "not 64 hexadecimal digits"),
}


@pytest.mark.parametrize("case", COMMITS)
def test_a_wrong_list_of_commitments_is_refused(case: str) -> None:
    change, words = COMMITS[case]
    star = Star()
    commits = change([[number, "0" * 64] for number in sorted(star.replies())])
    _refuses(star, star.asked(Phase.CONTRIBUTE, {"commits": commits}, b""), words)


def test_nothing_is_contributed_among_too_few() -> None:
    star = Star()
    said = star.replies()
    commits = {each: read_frame(TERMS, said[each]).fields["commit"] for each in (1, 2, 3)}
    turn = star.asked(Phase.CONTRIBUTE, {"commits": listed(commits)}, b"")
    _refuses(star, turn, "3 workers take part; fewer than 4")


@pytest.mark.parametrize(("phase", "fields", "words"), [
    (Phase.CONTRIBUTE, {}, "there are no commitments"),
    (
        Phase.CONTRIBUTE,
        {"commits": [], "more": 1},
        "there are no commitments, or additional fields",
    ),
    (Phase.CONFIRM, {"only": 1}, "the members of the set are missing"),
    (Phase.OPEN, {"only": 1}, "confirmations come without fields"),
])  # fmt: skip
def test_turns_with_other_fields_are_refused(
    phase: Phase, fields: dict[str, Any], words: str
) -> None:
    star = Star().play(phase)
    _refuses(star, star.asked(phase, fields, b""), words)


def test_a_proof_is_asked_for_without_anything_else() -> None:
    star = Star().play(Phase.OPEN)
    star.phase(silent=[2])
    _refuses(star, star.asked(Phase.PROVE, {}, b"more"), "must have no fields and no payload")


@pytest.mark.parametrize(("number", "words"), [
    (lambda public: 0, "out of range"),
    (lambda public: public.modulus, "out of range"),
    (lambda public: public.modulus + 5, "out of range"),
    (lambda public: 3 * public.n, "factor in common with n"),
])  # fmt: skip
def test_a_worker_checks_every_number_itself(number: Callable[[Any], int], words: str) -> None:
    """Worker 2 commits to a bad number, and the server ignores it."""
    public, _ = public_and_shares()
    content = units_content(public, [number(public), 5, 6])
    start = RoundStart(TERMS, 0, SPEC, frozenset(), "")
    star = Star()
    said = star.replies()
    commits = {each: read_frame(TERMS, reply).fields["commit"] for each, reply in said.items()}
    commits[2] = commitment(start, 2, content)
    turn = star.asked(Phase.CONTRIBUTE, {"commits": listed(commits)}, b"")
    contributions = {each: star.workers[each].on(turn) or b"" for each in (1, 3, 4, 5, 6)}
    contributions[2] = frame(Phase.CONTRIBUTE, 2, {}, content)
    _refuses(star, _shown(star, contributions, sorted(contributions)), words)


def test_a_worker_looks_for_copies_itself() -> None:
    """Workers 2 and 3 collude with the server: they commit to the same ciphertexts."""
    public, _ = public_and_shares()
    content = units_content(public, [5, 7, 9])
    start = RoundStart(TERMS, 0, SPEC, frozenset(), "")
    star = Star()
    said = star.replies()
    commits = {each: read_frame(TERMS, reply).fields["commit"] for each, reply in said.items()}
    commits.update({each: commitment(start, each, content) for each in (2, 3)})
    turn = star.asked(Phase.CONTRIBUTE, {"commits": listed(commits)}, b"")
    contributions = {each: star.workers[each].on(turn) or b"" for each in (1, 4, 5, 6)}
    contributions |= {each: frame(Phase.CONTRIBUTE, each, {}, content) for each in (2, 3)}
    turn = _shown(star, contributions, sorted(contributions))
    _refuses(star, turn, "the same ciphertext occurs twice: one was copied")


def test_the_set_that_is_left_still_opens_right() -> None:
    """A worker that was lied to is gone; the others open the set they confirmed."""
    star, answers = _until_answered()
    _refuses(star, _proposed(star, answers, [1]), "fewer than 4")
    star.phase(silent=[VICTIM])
    star.play()
    assert star.server.records[0].totals.tolist() == total([1, 2, 3, 4, 5, 6], 0)


def test_a_bundle_is_read_to_its_end() -> None:
    star, said = _until_contributed()
    whole = bundle([said[each] for each in sorted(said)])
    assert len(unbundle(whole, "nobody")) == 6
    _refuses(
        star,
        star.asked(Phase.CONTRIBUTE, {}, whole[:-1], step=1),
        "ends in the middle of a part",
    )


def test_a_worker_proves_once_whatever_the_step() -> None:
    star = Star().play(Phase.OPEN)
    star.phase(silent=[2])
    assert star.workers[VICTIM].on(star.asked(Phase.PROVE, {}, b"")) is not None
    turn = star.asked(Phase.PROVE, {}, b"", step=1)
    _refuses(star, turn, "phase prove is not the next one")
