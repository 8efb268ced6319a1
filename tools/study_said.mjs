// Writes what is said of the studies elsewhere: the tables of docs/results.md, and the list of the
// page's tab Study. All of it comes from the files that `lab study` left in docs/studies.

/** The rows of a CSV text, each by the names in the first. */
export function readCsv(text) {
  const rows = text
    .trimEnd()
    .split('\n')
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) =>
        quoted === undefined ? plain : quoted.replaceAll('""', '"'),
      ),
    )
  const [head, ...body] = rows
  return body.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i] ?? ''])))
}

const short = (text) => (text === '' ? '' : `${Number(Number(text).toPrecision(3))}`)
const signed = (text) => (Number(text) > 0 ? `+${short(text)}` : short(text).replace('-', '−'))

/** A study's table.csv as Markdown. */
export function markdownTable(csv) {
  const rows = readCsv(csv).map((row) => {
    const interval =
      row.difference_low === ''
        ? ''
        : ` [${signed(row.difference_low)}, ${signed(row.difference_high)}]`
    const found = { none: 'no difference found', 'too few': 'too few seeds' }
    return [
      row.arm,
      row.seeds,
      `${short(row.mean)} ± ${short(row.deviation)}`,
      row.difference === '' ? '' : `${signed(row.difference)}${interval}`,
      short(row.p_holm),
      found[row.verdict] ?? row.verdict,
    ]
  })
  const head = ['arm', 'seeds', 'mean ± sd', 'difference [95 %]', 'p (Holm)', '']
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
}

/** The document with the table of each study between its markers. `csvOf` gives a study's
 * table.csv, or undefined before it has run. */
export const withStudies = (text, csvOf) =>
  text.replace(/<!-- study: (\w+) -->\n[\s\S]*?<!-- end -->/g, (_, name) => {
    const csv = csvOf(name)
    const table = csv === undefined ? 'Not run yet.' : markdownTable(csv)
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
