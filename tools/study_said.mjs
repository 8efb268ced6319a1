// Writes what is said of the studies elsewhere: the tables of docs/results.md, and the list of the
// page's tab Study. All of it comes from the files that `lab study` left in docs/studies.

/** What docs/results.md leaves to the report itself. */
const LEFT_OUT = /^IQM|^spent|^gain/

/** A line of a Markdown table; a `\|` within a cell is text. */
const cellsOf = (line) => line.slice(2, -2).split(' | ')
const lineOf = (cells) => `| ${cells.join(' | ')} |`

/** Head, rule and rows of the table of the arms in a study's report.md, of its first primary
 * measure or of another one. */
export function armsRows(report, measure = 1) {
  const table = report.match(/^\| arm \| seeds \|.*(\n\|.*)*/gm)?.[measure - 1]
  if (table === undefined)
    throw new Error('report.md has no table of arms; run npm run studies -- --report')
  return table.split('\n').map(cellsOf)
}

/** The same without the columns that only the report has, in Markdown. */
export function armsTable(report, measure = 1) {
  const [head, rule, ...rows] = armsRows(report, measure)
  const kept = head.flatMap((name, i) => (LEFT_OUT.test(name) ? [] : [i]))
  return [head, rule, ...rows].map((cells) => lineOf(kept.map((i) => cells[i]))).join('\n')
}

/** The document with the table of each study between its markers. `reportOf` gives a study's
 * report.md, or undefined before it has run. */
export const withStudies = (text, reportOf) =>
  text.replace(/<!-- study: (\w+) -->\n[\s\S]*?<!-- end -->/g, (_, name) => {
    const report = reportOf(name)
    const table = report === undefined ? 'Not run yet.' : armsTable(report)
    return `<!-- study: ${name} -->\n\n${table}\n\n<!-- end -->`
  })

/** What the page lists of the studies, from their reports by id. A question that names the file of
 * another study says what that one is called. */
export function galleryOf(reports) {
  const entries = reports.map(([id, report]) => galleryEntry(id, report))
  const named = new Map(entries.map(({ id, name }) => [id, /\((.+)\)$/.exec(name)?.[1] ?? name]))
  const said = (word) => (named.has(word) ? `“${named.get(word)}”` : word)
  return entries.map((entry) => ({
    ...entry,
    question: entry.question.replace(/\b\w+_\w+\b/g, said),
  }))
}

/** What was found of the arms, each once. */
const verdictsIn = (report) => [
  ...new Set(
    armsRows(report)
      .slice(2)
      .flatMap((cells) => cells.at(-1).trim() || []),
  ),
]

function galleryEntry(id, report) {
  const [title, question, answer] = report.split('\n\n')
  const [, study] = /#tab=study&study=([\w-]+)/.exec(report) ?? []
  const [, arm, link] = /one arm: \[([^\]]+)\]\(\?([^)]+)\)/.exec(report) ?? []
  if (study === undefined || link === undefined)
    throw new Error(`${id}: report.md has no links; run npm run studies -- ${id} --report`)
  return {
    id,
    name: title.replace('# ', ''),
    question,
    answer: answer.replaceAll('**', ''),
    verdicts: verdictsIn(report),
    study,
    arm,
    link,
  }
}
