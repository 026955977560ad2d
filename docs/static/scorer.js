// How Sphinx's search ranks: as by default, but a page for users before one for those who change the project.
var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: ([page, title, anchor, description, score, file, kind]) =>
    ["api", "architecture", "changelog", "conformance", "contributing", "specification"].includes(page)
      && kind !== "index"
      ? score - 100
      : score,
};
