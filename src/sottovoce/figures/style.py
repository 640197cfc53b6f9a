"""How a page looks: on a screen, on a phone, in the dark and on paper."""

from __future__ import annotations

__all__ = ["STYLE"]

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #faf8f4; --card: #fff; --ink: #1d2424; --soft: #566162; --line: #e1ddd3;
  --accent: #1f5f5b;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14191a; --card: #1c2324; --ink: #e6e9e6; --soft: #9fabaa; --line: #303a3a;
    --accent: #7cc7bf;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 0 1.25rem; max-width: 46rem; background: var(--paper);
  color: var(--ink);
  font: 1.0625rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  overflow-wrap: anywhere; -webkit-text-size-adjust: 100%;
}
main { padding: 2.5rem 0 2rem; }
h1, h2 { line-height: 1.2; text-wrap: balance; }
h1 {
  margin: 0 0 1.25rem; font-size: clamp(1.6rem, 5.5vw, 2.3rem); font-weight: 650;
  letter-spacing: -.015em;
}
h2 { margin: 2.5rem 0 .5rem; font-size: 1.25rem; }
p { margin: .6rem 0 1rem; white-space: pre-line; }
figure {
  margin: 1.75rem 0; background: var(--card); border: 1px solid var(--line);
  border-radius: 14px; overflow: hidden;
}
.picture { padding: 1rem; background: #fff; }
.picture svg { display: block; width: 100%; max-width: 40rem; height: auto; margin: 0 auto; }
figcaption { padding: .9rem 1.25rem 0; color: var(--soft); font-size: .95rem; line-height: 1.5; }
figcaption p { margin: 0 0 .5rem; }
figcaption .note { font-size: .875rem; }
.picture + figcaption, .picture + details { border-top: 1px solid var(--line); }
details { padding: .75rem 1.25rem .9rem; font-size: .95rem; }
summary { color: var(--accent); font-weight: 600; cursor: pointer; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.wide { margin: 1rem 0 1.5rem; overflow-x: auto; overflow-wrap: break-word; }
details .wide { margin: .5rem 0 0; }
table {
  width: 100%; border-collapse: collapse; font-size: .95rem; line-height: 1.4;
  font-variant-numeric: tabular-nums;
}
caption { padding: 0 0 .6rem; color: var(--soft); text-align: left; line-height: 1.5; }
th, td {
  padding: .4rem .9rem .4rem 0; text-align: left; vertical-align: baseline;
  border-bottom: 1px solid var(--line);
}
th { color: var(--soft); font-weight: 600; vertical-align: bottom; border-bottom-width: 2px; }
th:last-child, td:last-child { padding-right: 0; }
.number { text-align: right; }
td.number { white-space: nowrap; }
footer {
  padding: 1rem 0 2rem; color: var(--soft); font-size: .85rem;
  border-top: 1px solid var(--line);
}
@media (max-width: 30rem) {
  body { padding: 0 1rem; }
  figure { margin-inline: -.75rem; }
  .picture { padding: .6rem .4rem; }
  table { font-size: .875rem; }
  th, td { padding-right: .45rem; }
  figcaption, details { padding-inline: .75rem; }
}
@media print {
  :root {
    --paper: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #ccc; --accent: #000;
    color-scheme: light;
  }
  body { max-width: none; font-size: 10.5pt; }
  figure, tr { break-inside: avoid; }
  h2, caption { break-after: avoid; }
  summary { display: none; }
}
"""
