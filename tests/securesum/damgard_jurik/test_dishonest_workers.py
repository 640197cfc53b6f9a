"""A worker's attempts to cheat, and how it is named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from tests.securesum.damgard_jurik.stars import Altering, Star, frame, public_and_shares, total

from sottovoce.errors import SealedRefused
from sottovoce.model.sum_rounds import Integers
from sottovoce.securesum.damgard_jurik.contributions import read_units, units_content
from sottovoce.securesum.damgard_jurik.decryption import lagrange
from sottovoce.securesum.damgard_jurik.encryption import Blind, Blinds, power_of_generator
from sottovoce.securesum.damgard_jurik.number_theory import invert, mpz, unit_below
from sottovoce.securesum.damgard_jurik.proofs import announce
from sottovoce.securesum.damgard_jurik.worker import Sealed, ThresholdWorker, _Round, seal_values
from sottovoce.securesum.star.suite import Content, Phase, RoundStart

ALL, CHEAT = {1, 2, 3, 4, 5, 6}, 2
NAMED = {CHEAT: "its partial decryption was wrong: the proof does not hold"}


def _altering(changes: dict[Phase, Callable[[Content], Content]]) -> Altering:
    public, shares = public_and_shares()
    return Altering(ThresholdWorker(public, shares[CHEAT - 1]), changes)


def _units(change: Callable[[list[int]], list[int]]) -> Callable[[Content], Content]:
    """A change of the units in a payload."""
    public, _ = public_and_shares()
    return lambda said: (
        said[0],
        units_content(public, change(read_units(public, said[1], 2, "nobody"))),
    )


def _times_three(units: list[int]) -> list[int]:
    return [units[0] * 3 % public_and_shares()[0].modulus, *units[1:]]


def _shifted(units: list[int]) -> list[int]:
    """Adds 1 to the first total when holders 1, 2, 3 and 7 open: possible, and wrong."""
    public, _ = public_and_shares()
    common, coefficients = lagrange((1, 2, 3, 7))
    first_slot = 1 << 4
    factor = 4 * public.delta * common * first_slot * invert(
        2 * coefficients[CHEAT - 1], public.messages
    )  # fmt: skip
    power = power_of_generator(public, factor % public.messages)
    return [units[0] * power % public.modulus, *units[1:]]


@dataclass(frozen=True)
class Sending:
    """A worker who commits to something else than its values, and sends it."""

    make: Callable[[RoundStart], Sealed]
    first: Phase = Phase.COMMIT

    def round(self, start: RoundStart, number: int, values: Callable[[], Integers]) -> _Round:
        public, shares = public_and_shares()
        return _Round(start, public, shares[number - 1], self.make(start))

    def prepare(self) -> None:
        """Nothing."""


def _units_sent(*units: int) -> Callable[[RoundStart], Sealed]:
    """Numbers of which the worker knows no message; it answers as if they were zeros."""
    public, _ = public_and_shares()
    zeros = [Blind(mpz(1), 0)] * 2
    content = units_content(public, units)
    return lambda _: Sealed(content, [0, 0], zeros, announce(public))


def _messages_sent(*messages: int) -> Callable[[RoundStart], Sealed]:
    """Messages that an honest worker would not send, but which the worker knows."""
    public, _ = public_and_shares()
    blinds = Blinds(public)
    return lambda _: seal_values(
        public, list(messages), [blinds.take() for _ in messages], announce(public)
    )


@pytest.mark.parametrize("wrong", [_times_three, _shifted])
def test_a_wrong_partial_decryption_is_named_and_the_total_is_right(
    wrong: Callable[[list[int]], list[int]],
) -> None:
    star = Star(rounds=2, suites={CHEAT: _altering({Phase.OPEN: _units(wrong)})})
    star.play(Phase.PROVE)
    assert star.server.waiting == {1, 2, 3, 4}
    star.play()
    assert star.server.state == "done"
    assert star.server.excluded == NAMED
    assert [each.totals.tolist() for each in star.server.records] == [
        total(ALL, 0), total(ALL - {CHEAT}, 1),
    ]  # fmt: skip


def test_the_possible_shift_would_pass_without_one_more_holder() -> None:
    """Why one more than needed is asked: θ holders alone would not detect this."""
    public, _ = public_and_shares()
    star = Star(suites={CHEAT: _altering({Phase.OPEN: _units(_shifted)})}).play(Phase.OPEN)
    for number, reply in star.replies(silent=[4]).items():
        star.take(reply, number)
    assembly = star.server._round._assembled  # type: ignore[union-attr]
    totals = assembly._totals([1, 2, 3, 7])
    assert totals[0] == total(ALL, 0)[0] + 1
    assert totals[1:].tolist() == total(ALL, 0)[1:]
    assert public.threshold == 4


@pytest.mark.parametrize("proof", [b"", b"short", bytes(1_000)])
def test_a_proof_that_is_none_names_its_worker(proof: bytes) -> None:
    bad: dict[Phase, Callable[[Content], Content]] = {
        Phase.OPEN: _units(_times_three), Phase.PROVE: lambda said: ({}, proof),
    }  # fmt: skip
    star = Star(suites={CHEAT: _altering(bad)}).play()
    assert star.server.excluded == NAMED
    assert star.server.records[0].totals.tolist() == total(ALL, 0)


def test_a_bad_proof_of_a_right_partial_decryption_names_its_worker_too() -> None:
    def flipped(said: Content) -> Content:
        return said[0], said[1][:-1] + bytes([said[1][-1] ^ 1])

    star = Star(suites={CHEAT: _altering({Phase.PROVE: flipped})}).play(Phase.OPEN)
    star.phase(silent=[1])
    star.play()
    assert star.server.excluded == {1: "it did not answer in phase open", **NAMED}
    assert star.server.records[0].totals.tolist() == total(ALL, 0)


def test_after_a_cheater_is_named_others_help_to_open() -> None:
    """Two cheat in the first four: the two who were not asked open with the honest ones."""
    public, shares = public_and_shares()
    changes = {Phase.OPEN: _units(_times_three)}
    suites = {each: Altering(ThresholdWorker(public, shares[each - 1]), changes) for each in (2, 3)}
    star = Star(suites=suites).play()
    assert star.server.excluded.keys() == {2, 3}
    assert star.server.records[0].totals.tolist() == total(ALL, 0)


def test_too_many_cheaters_are_named_when_the_session_ends() -> None:
    public, shares = public_and_shares()
    changes = {Phase.OPEN: _units(_times_three)}
    suites = {
        each: Altering(ThresholdWorker(public, shares[each - 1]), changes) for each in (1, 2, 3, 5)
    }
    star = Star(suites=suites).play()
    assert (star.server.state, star.server.records) == ("aborted", ())
    assert star.server.culprits == ("worker 1", "worker 2", "worker 3", "worker 5")


def _refused(star: Star, words: str) -> None:
    """The cheat's reply is refused with these words, changes nothing, and harms no other worker."""
    said = star.replies()
    before = star.server.turn(CHEAT), star.server.waiting
    with pytest.raises(SealedRefused, match=rf"worker {CHEAT}: .*{words}"):
        star.server.take(said[CHEAT], CHEAT)
    assert (star.server.turn(CHEAT), star.server.waiting) == before
    for number in said.keys() - {CHEAT}:
        star.take(said[number], number)
    star.close()
    star.play()
    assert star.server.state == "done"
    assert CHEAT in star.server.excluded


OPENED: dict[str, tuple[Callable[[Content], Content], str]] = {
    "too short": (lambda said: ({}, said[1][:-1]), "511 bytes, not 512"),
    "zero": (lambda said: ({}, bytes(512)), "out of range"),
    "too large": (lambda said: ({}, b"\xff" * 512), "out of range"),
    "fields": (lambda said: ({"more": 1}, said[1]), "have fields"),
}


@pytest.mark.parametrize("case", OPENED)
def test_partial_decryptions_that_are_no_units_are_refused(case: str) -> None:
    change, words = OPENED[case]
    star = Star(suites={CHEAT: _altering({Phase.OPEN: change})}).play(Phase.OPEN)
    _refused(star, words)


@pytest.mark.parametrize("said", [{}, {"commit": 5}, {"commit": "0" * 63}, {"commit": "G" * 64},
                                  {"commit": "0" * 64, "more": 1}])  # fmt: skip
def test_what_is_no_commitment_is_refused(said: dict[str, object]) -> None:
    star = Star(suites={CHEAT: _altering({Phase.COMMIT: lambda _: (said, b"")})})
    _refused(star, "it sent no commitment, or additional fields")


CONTRIBUTED: dict[str, tuple[Callable[[Content], Content], str]] = {
    "another": (lambda said: ({}, said[1][::-1]), "not the one it committed to"),
    "fields": (lambda said: ({"more": 1}, said[1]), "has fields"),
}


@pytest.mark.parametrize("case", CONTRIBUTED)
def test_a_contribution_that_was_not_committed_to_is_refused(case: str) -> None:
    change, words = CONTRIBUTED[case]
    star = Star(suites={CHEAT: _altering({Phase.CONTRIBUTE: change})}).play(Phase.CONTRIBUTE)
    _refused(star, words)


BAD: dict[str, tuple[Callable[[], list[int]], str]] = {
    "zero": (lambda: [0, 5, 6], "out of range"),
    "the modulus": (lambda: [5, public_and_shares()[0].modulus, 6], "out of range"),
    "no unit": (lambda: [5, 6, public_and_shares()[0].n], "factor in common with n"),
    "one too few": (lambda: [5, 6], "512 bytes, not 768"),
    "one too many": (lambda: [5, 6, 7, 8], "1,024 bytes, not 768"),
    "the same twice": (lambda: [5, 5, 6], "one was copied"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_ciphertext_is_refused(case: str) -> None:
    make, words = BAD[case]
    star = Star(suites={CHEAT: Sending(_units_sent(*make()))}).play(Phase.CONTRIBUTE)
    _refused(star, words)


def test_who_does_not_know_what_is_in_its_contribution_is_named_and_left_out() -> None:
    """Any unit is a ciphertext; but nobody knows its message."""
    public, _ = public_and_shares()
    garbage = [unit_below(public.modulus) for _ in range(3)]
    star = Star(suites={CHEAT: Sending(_units_sent(*garbage))}).play()
    assert star.server.state == "done"
    assert star.server.excluded == {CHEAT: "it does not know what is in its own contribution"}
    assert star.server.records[0].totals.tolist() == total(ALL - {CHEAT}, 0)


def test_where_too_few_know_what_they_contributed_the_session_ends_and_names_the_others() -> None:
    public, _ = public_and_shares()
    suites = {
        each: Sending(_units_sent(*(unit_below(public.modulus) for _ in range(3))))
        for each in (2, 4, 5)
    }
    star = Star(suites=suites).play()
    assert star.server.state == "aborted"
    assert star.server.reason == "3 workers know what they have contributed; 4 are needed"
    assert star.server.culprits == ("worker 2", "worker 4", "worker 5")


ANSWERED: dict[str, tuple[Callable[[Content], Content], str]] = {
    "too short": (lambda said: ({}, said[1][:-1]), "too long, too short or out of range"),
    "out of range": (lambda said: ({}, b"\xff" * len(said[1])), "too long, too short or out of"),
    "fields": (lambda said: ({"more": 1}, said[1]), "its answer has fields"),
}


@pytest.mark.parametrize("case", ANSWERED)
def test_what_is_no_answer_is_refused(case: str) -> None:
    change, words = ANSWERED[case]

    def second(said: Content) -> Content:
        return said if len(said[1]) == 768 else change(said)

    star = Star(suites={CHEAT: _altering({Phase.CONTRIBUTE: second})}).play(Phase.CONTRIBUTE)
    star.phase()
    _refused(star, words)


def test_a_copied_ciphertext_is_refused_even_if_it_was_committed_to() -> None:
    """Workers 2 and 3 agree on it beforehand; the second one is refused."""
    units = [unit_below(public_and_shares()[0].modulus) for _ in range(3)]
    star = Star(suites={each: Sending(_units_sent(*units)) for each in (2, 3)})
    star.play(Phase.CONTRIBUTE)
    said = star.replies()
    star.take(said[3], 3)
    with pytest.raises(SealedRefused, match="worker 2: the same ciphertext occurs twice"):
        star.take(said[2], 2)


def test_a_copied_commitment_fits_no_contribution() -> None:
    """Worker 2 repeats the hash and then the ciphertexts of worker 1, who is faster."""
    seen: dict[Phase, Content] = {}

    def note(phase: Phase) -> Callable[[Content], Content]:
        def noted(said: Content) -> Content:
            seen[phase] = said
            return said

        return noted

    def repeat(phase: Phase) -> Callable[[Content], Content]:
        return lambda _: seen[phase]

    phases = (Phase.COMMIT, Phase.CONTRIBUTE)
    public, shares = public_and_shares()
    first = Altering(ThresholdWorker(public, shares[0]), {each: note(each) for each in phases})
    copier = _altering({each: repeat(each) for each in phases})
    star = Star(suites={1: first, CHEAT: copier})
    star.phase()
    said = star.replies()
    star.refused.clear()  # its own honest side does not find its commitment in the list
    turn = frame(Phase.CONTRIBUTE, CHEAT, *seen[Phase.CONTRIBUTE])
    star.take(said[1], 1)
    with pytest.raises(SealedRefused, match=r"worker 2: .*not the one it committed to"):
        star.take(turn, CHEAT)


OUT_OF_RANGE: dict[str, tuple[int, int]] = {
    "a value of seven workers": (1 | 7_000_000 << 4, 1),
    "two votes": (2, 2),
    "no vote": (1, 0),
    "beyond the last slot": (1, 1 | 1 << 1_000),
    "minus one": (1, -1),
}


@pytest.mark.parametrize("case", OUT_OF_RANGE)
def test_a_total_out_of_range_ends_the_session_and_names_nobody(case: str) -> None:
    public, _ = public_and_shares()
    messages = [each % int(public.messages) for each in OUT_OF_RANGE[case]]
    star = Star(suites={CHEAT: Sending(_messages_sent(*messages))}).play()
    assert (star.server.state, star.server.records) == ("aborted", ())
    assert "one of the 6 contributors has sent an invalid value" in star.server.reason
    assert star.server.culprits == ()
    assert star.server.excluded == {}


def test_another_confirmation_is_refused() -> None:
    star = Star(suites={CHEAT: _altering({Phase.CONFIRM: lambda _: ({"set": "0" * 64}, b"")})})
    _refused(star.play(Phase.CONFIRM), "it has confirmed a different set")


@pytest.mark.parametrize("phase", [Phase.COMMIT, Phase.CONTRIBUTE, Phase.CONFIRM, Phase.OPEN,
                                   Phase.PROVE])  # fmt: skip
def test_no_bit_of_a_reply_may_be_flipped(phase: Phase) -> None:
    star = Star(suites={1: _wrong_first()}).play(phase)
    reply = star.replies()[CHEAT]
    before = [star.server.turn(each) for each in sorted(ALL)]
    for place in sorted({0, 40, 64, 66, 70, 200, len(reply) // 2, len(reply) - 1}):
        flipped = bytearray(reply)
        flipped[place] ^= 4
        with pytest.raises(SealedRefused, match=f"worker {CHEAT}: "):
            star.server.take(bytes(flipped), CHEAT)
    assert [star.server.turn(each) for each in sorted(ALL)] == before
    assert star.server.take(reply, CHEAT)


def _wrong_first() -> Altering:
    """Worker 1 decrypts wrongly, so that all have to prove."""
    public, shares = public_and_shares()
    return Altering(ThresholdWorker(public, shares[0]), {Phase.OPEN: _units(_times_three)})


def test_nobody_can_speak_for_another() -> None:
    star = Star().play(Phase.OPEN)
    with pytest.raises(SealedRefused, match="worker 2: the message is from worker 1"):
        star.server.take(star.replies()[1], 2)


def test_a_reply_for_another_round_is_refused() -> None:
    star = Star().play(Phase.COMMIT)
    with pytest.raises(SealedRefused, match="worker 2: its reply is for another round or phase"):
        star.server.take(frame(Phase.COMMIT, 2, {"commit": "0" * 64}, round_=1), 2)
