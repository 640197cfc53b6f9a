"""How a page looks: on a screen, on a phone, in the dark and on paper."""

from __future__ import annotations

__all__ = ["REPORT_STYLE", "STYLE"]

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #faf8f4; --card: #fff; --ink: #1d2424; --soft: #566162; --line: #e1ddd3;
  --accent: #1f5f5b;
  --good: #00557f; --partly: #6b5200; --bad: #983200;
  --good-tint: #e1f0f9; --partly-tint: #fbf2d5; --bad-tint: #fdebe0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14191a; --card: #1c2324; --ink: #e6e9e6; --soft: #9fabaa; --line: #303a3a;
    --accent: #7cc7bf;
    --good: #86caef; --partly: #e8cf74; --bad: #ffa678;
    --good-tint: #102c3b; --partly-tint: #332b0f; --bad-tint: #3b1f11;
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
h3 { margin: 2rem 0 .5rem; font-size: 1.1rem; line-height: 1.3; }
p { margin: .6rem 0 1rem; white-space: pre-line; }
a { color: var(--accent); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1rem; margin: .6rem 0 1rem; }
dt { color: var(--soft); font-weight: 600; }
dd { margin: 0; }
.badge {
  display: inline-block; padding: .05em .55em; border: 2px solid; border-radius: .7em;
  font-size: .9em; font-weight: 650; line-height: 1.45; white-space: nowrap;
}
.good { color: var(--good); background: var(--good-tint); }
.partly { color: var(--partly); background: var(--partly-tint); border-style: dashed; }
.bad { color: var(--bad); background: var(--bad-tint); border-width: 3px; border-style: double; }
.open { color: var(--soft); border-style: dotted; }
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
.long { min-width: 11rem; }
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
@media (max-width: 42rem) {
  .stacks thead { position: absolute; clip-path: inset(50%); }
  .stacks tr, .stacks td { display: block; padding: .15rem 0; border: 0; }
  .stacks tr { padding: .7rem 0; border-bottom: 1px solid var(--line); }
  .stacks td[rowspan] { padding-bottom: .5rem; font-weight: 600; }
  .stacks td:empty { display: none; }
}
@media print {
  :root {
    --paper: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #ccc; --accent: #000;
    --good: #00405f; --partly: #4d3b00; --bad: #7a2800; color-scheme: light;
  }
  body { max-width: none; font-size: 10.5pt; }
  figure, tr { break-inside: avoid; }
  h2, h3, caption { break-after: avoid; }
  summary { display: none; }
}
"""

REPORT_STYLE = """
body { max-width: 76rem; }
main > p, main > dl, main > h3 { max-width: 50rem; }
main > h2 {
  margin-top: 4rem; padding-top: 1rem; border-top: 3px solid var(--line); font-size: 1.6rem;
}
h1 + h2 { margin-top: 2rem; }
main > h3 { margin-top: 3.25rem; font-size: 1.25rem; }
h2, h3 { scroll-margin-top: 1rem; }
dl, main > details { font-size: .95rem; }
.figures {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 27rem), 1fr));
  gap: 1.25rem; align-items: start; margin: 1.25rem 0;
}
.figures figure { max-width: 42rem; margin: 0; }
.wide table { width: auto; min-width: min(100%, 24rem); font-size: .875rem; }
@media (min-width: 30rem) { .wide th, .wide td { padding: .28rem 1rem .28rem 0; } }
td[rowspan] { vertical-align: top; }
main > details {
  margin: 1rem 0; background: var(--card); border: 1px solid var(--line); border-radius: 14px;
}
@media (max-width: 30rem) {
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin: 0 0 .6rem; }
  .figures { margin-inline: -.75rem; }
  .wide table { font-size: .8125rem; }
}
@media print {
  .figures { grid-template-columns: 1fr 1fr; }
  main > details > summary { display: block; }
  main > details::details-content { content-visibility: visible; }
  .badge { background: none; }
}
"""
"""In addition for a report: wide tables, figures side by side, lines no longer than they read."""
