"""The look of the HTML page, light and dark. It needs nothing from the network."""

CSS = """\
:root {
  color-scheme: light dark;
  --page: #fbfaf8; --card: #ffffff; --ink: #1d1f23; --soft: #5b6068; --line: #dedbd5;
  --good: #11693a; --good-back: #e3f3e8; --bad: #a51d2d; --bad-back: #fbe6e6;
  --note: #7a4b00; --note-back: #fdf0d5; --lit: #2456a6; --lit-back: #eef3fc; --target: #fff3b8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #15171a; --card: #1d2024; --ink: #e7e6e3; --soft: #a2a7ae; --line: #363a40;
    --good: #7fd6a0; --good-back: #17331f; --bad: #ff9aa0; --bad-back: #43191d;
    --note: #f3c677; --note-back: #3b2c0e; --lit: #9dc0ff; --lit-back: #1b2638; --target: #514713;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body {
  margin: 0 auto; padding: 1.25rem clamp(.75rem, 3vw, 2rem) 4rem; max-width: 76rem;
  background: var(--page); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif;
}
h1 { margin: 0; font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 2.25rem 0 .75rem; font-size: 1.2rem; }
h3 { margin: 0; font-size: 1rem; }
p { margin: .35rem 0; max-width: 70ch; }
a { color: var(--lit); }
a:focus-visible { outline: 3px solid var(--lit); outline-offset: 2px; border-radius: 2px; }
code, .text, .number { font: .9rem/1.5 ui-monospace, Menlo, Consolas, monospace; }
code, .text { overflow-wrap: anywhere; }
.soft { color: var(--soft); }
.escape { color: var(--note); background: var(--note-back); border-radius: 2px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { position: static; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: .75rem 0 0; padding: 0; }
nav li { list-style: none; }
:target { background: var(--target) !important; }

.word {
  display: inline-block; padding: 0 .5rem; border-radius: 99px; font-size: .85rem; font-weight: 650;
  color: var(--soft); border: 1px solid currentColor; white-space: nowrap;
}
.good { color: var(--good); background: var(--good-back); }
.bad { color: var(--bad); background: var(--bad-back); }
.note { color: var(--note); background: var(--note-back); }
.lit { color: var(--lit); background: var(--lit-back); }

.answer, .group {
  margin: 0 0 .9rem; padding: .8rem 1rem; background: var(--card);
  border: 1px solid var(--line); border-radius: .5rem;
}
.answer h3 { display: flex; flex-wrap: wrap; gap: .25rem .6rem; align-items: baseline; }
dl { display: grid; grid-template-columns: 7.5rem 1fr; gap: .2rem .75rem; margin: .6rem 0 0; }
dt { color: var(--soft); }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
dd ol, .findings { margin: 0; padding: 0; list-style: none; }
.findings li { padding: .3rem 0; border-top: 1px solid var(--line); }

table { border-collapse: collapse; width: 100%; background: var(--card); font-size: .95rem; }
caption { text-align: left; padding: 0 0 .5rem; color: var(--soft); }
th, td { padding: .35rem .6rem; border: 1px solid var(--line); text-align: left; }
th, td { vertical-align: top; }
td a { white-space: nowrap; }
tbody th { font-weight: 400; min-width: 12rem; }

.group { padding: 0; overflow: hidden; }
.group h3 { font-weight: 400;
  display: flex; flex-wrap: wrap; gap: .25rem .6rem; align-items: baseline;
  padding: .45rem .75rem; border-bottom: 1px solid var(--line);
}
.followed { border-color: var(--lit); border-left-width: .35rem; }
.followed h3 { background: var(--lit-back); }
.lines { margin: 0; padding: .25rem 0; list-style: none; }
.lines li {
  display: grid; grid-template-columns: 3.25rem minmax(0, 1fr) minmax(0, 26rem); gap: 0 .75rem;
  padding: .06rem .75rem;
}
.lines.plain li { grid-template-columns: 3.25rem minmax(0, 1fr); }
.number { text-align: right; color: var(--soft); text-decoration: none; }
.number:hover { text-decoration: underline; }
.text { white-space: pre-wrap; }
.field { font-weight: 650; }
.comment .text, .invalid .text, .blank .text { color: var(--soft); }
.invalid .text { text-decoration: line-through; }
.decides-good { background: var(--good-back); }
.decides-bad { background: var(--bad-back); }
.margin { font-size: .85rem; display: flex; flex-wrap: wrap; gap: .1rem .5rem; }
.margin .word { font-size: .78rem; }
.finding { flex-basis: 100%; color: var(--note); }
.left-out { padding: .3rem .75rem; color: var(--soft); }
footer { margin-top: 2rem; color: var(--soft); font-size: .9rem; }
@media (max-width: 60rem) {
  thead { position: absolute; left: -99rem; }
  table, caption, tbody, tr, td, th { display: block; }
  table { background: none; }
  tbody tr { margin: 0 0 .75rem; background: var(--card); border: 1px solid var(--line); }
  tbody td, tbody th { border: 0; padding: .2rem .75rem; }
  td[data-column]::before { content: attr(data-column) ": "; color: var(--soft); }
}
@media (max-width: 46rem) {
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .4rem; }
  .lines li, .lines.plain li { grid-template-columns: 2.5rem minmax(0, 1fr); }
  .lines li { padding-inline: .4rem .6rem; }
  .margin { grid-column: 2; }
}
@media print { .answer, .group { break-inside: avoid; } .skip, nav { display: none; } }
"""
