from __future__ import annotations

from tests.securesum.damgard_jurik.small_keys import encrypted, small_key
from tests.securesum.damgard_jurik.stars import SPEC, TERMS

from sottovoce.securesum.damgard_jurik.contributions import EncryptedContribution, Gathered
from sottovoce.securesum.star.suite import RoundStart


def _gathered(round_: int = 0, key: int = 3, commit: str = "a", digest: str = "b") -> Gathered:
    public, _ = small_key(1, key, 5)
    contributions = {
        number: EncryptedContribution(
            digest * 64, [encrypted(public, number)], encrypted(public, 0)
        )
        for number in (1, 2, 3)
    }
    start = RoundStart(TERMS, round_, SPEC, frozenset(contributions), "0" * 64)
    return Gathered(start, public, dict.fromkeys(contributions, commit * 64), contributions)


def test_what_was_shown_is_named_by_round_key_commitments_and_contributions() -> None:
    others = [_gathered(round_=1), _gathered(key=4), _gathered(commit="c"), _gathered(digest="c")]
    assert len({each.shown for each in [_gathered(), *others]}) == 5


def test_a_set_is_named_by_its_members_and_by_what_was_shown() -> None:
    one, two = _gathered(), _gathered(digest="c")
    names = {
        one.proposed(frozenset([1, 2])).digest, one.proposed(frozenset([1, 2, 3])).digest,
        two.proposed(frozenset([1, 2])).digest, one.shown,
    }  # fmt: skip
    assert len(names) == 4


def test_products_are_of_the_chosen_members() -> None:
    gathered = _gathered()
    modulus = gathered.public.modulus
    units = {number: each.ciphertexts[0] for number, each in gathered.contributions.items()}
    assert gathered.products(frozenset([1, 3])).ciphertexts == [units[1] * units[3] % modulus]
    everything = gathered.products(frozenset([1, 2, 3]))
    assert everything.ciphertexts == [units[1] * units[2] % modulus * units[3] % modulus]
    assert everything is gathered.everything
