"""Charts to draw: a plausible one, and any there could be."""

from __future__ import annotations

from hypothesis import strategies as st

from sottovoce.figures import Chart, Level, Role, Series

EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)


def series(name: str, values: tuple[float, ...]) -> Series:
    low, high = tuple(y - 0.02 for y in values), tuple(y + 0.02 for y in values)
    role: Role = "ours" if name.startswith("recommended") else "theirs"
    return Series(name, EPSILONS, values, low, high, role)


TRADE_OFF = Chart(
    title="Accuracy against epsilon: 164 workers, 800 tasks",
    x_label="epsilon per answer",
    y_label="accuracy",
    series=(
        series("recommended: subset-selection + aware", (0.512, 0.671, 0.785, 0.893, 0.925, 0.931)),
        series("two-layer + TD (P1), sound", (0.503, 0.58, 0.69, 0.80, 0.90, 0.92)),
        series("randomised response + majority vote", (0.501, 0.61, 0.744, 0.844, 0.90, 0.915)),
        series("Laplace + CRH (P4)", (0.50, 0.53, 0.59, 0.66, 0.75, 0.84)),
    ),
    levels=(Level("best constant", 0.513), Level("clean answers", 0.935)),
    note="90 % bands over 20 trials of the same data.",
    x_scale="log",
)

letters = st.characters(exclude_categories=["C", "Z"])
names = st.builds("{}{}".format, letters, st.text(letters | st.sampled_from("abc -"), max_size=90))
numbers = st.floats(-1e150, 1e150) | st.floats(-2, 2) | st.sampled_from([0.0, 0.5, 1.0])


@st.composite
def any_series(draw: st.DrawFn, name: str, values: st.SearchStrategy[float] = numbers) -> Series:
    x = draw(st.lists(st.sampled_from(EPSILONS), min_size=1, max_size=6, unique=True))
    rows = draw(st.lists(st.tuples(values, values, values), min_size=len(x), max_size=len(x)))
    low, y, high = zip(*(sorted(row) for row in rows), strict=True)
    role: Role = draw(st.sampled_from(["ours", "theirs", "reference"]))
    banded = draw(st.booleans())
    return Series(name, tuple(x), y, low if banded else None, high if banded else None, role)


@st.composite
def any_chart(draw: st.DrawFn) -> Chart:
    lines = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    log = draw(st.booleans())
    values = numbers.map(lambda value: abs(value) + 1e-30) if log else numbers
    levels = draw(st.lists(st.builds(Level, names, values), max_size=4))
    return Chart(
        title=draw(names),
        x_label=draw(names),
        y_label=draw(names),
        series=tuple(draw(any_series(name, values)) for name in lines),
        levels=tuple(levels),
        note=draw(names | st.just("")),
        better=draw(st.sampled_from(["higher", "lower", "neither"])),
        x_scale=draw(st.sampled_from(["linear", "log"])),
        y_scale="log" if log else "linear",
    )
