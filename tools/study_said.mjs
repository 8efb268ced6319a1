// Writes what is said of the studies elsewhere: the tables of docs/results.md, and the list of the
// page's tab Study. All of it comes from the files that `lab study` left in docs/studies.

/** What docs/results.md leaves to the report itself. */
const LEFT_OUT = /^IQM|^spent$|’s gain$/

/** A line of a Markdown table; a `\|` within a cell is text. */
const cellsOf = (line) => line.slice(2, -2).split(' | ')
const lineOf = (cells) => `| ${cells.join(' | ')} |`

/** The table of the arms from a study's report.md, of its first primary measure or of another one,
 * without the columns that only the report has. */
export function armsTable(report, measure = 1) {
  const table = report.match(/^\| arm \| seeds \|.*(\n\|.*)*/gm)?.[measure - 1]
  if (table === undefined)
    throw new Error('report.md has no table of arms; run npm run studies -- --report')
  const [head, rule, ...rows] = table.split('\n').map(cellsOf)
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

/** What the page lists of a study, from its report. */
export function galleryEntry(id, report) {
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
    study,
    arm,
    link,
  }
}
