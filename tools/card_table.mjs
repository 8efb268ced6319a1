// Writes the table of benchmark cards in docs/performance.md.

const COLUMNS = [
  ['adapter', ({ adapter }) => adapter],
  ['browser', ({ browser }) => browser],
  ['TFLOP/s', ({ peak_gflops }) => (peak_gflops / 1e3).toPrecision(3)],
  ['GB/s copied', ({ peak_gbps }) => Math.round(peak_gbps)],
  ['product of 256, GFLOP/s', ({ matmul_256_gflops }) => Math.round(matmul_256_gflops)],
  ['product of 512, GFLOP/s', ({ matmul_512_gflops }) => Math.round(matmul_512_gflops)],
  ['supervised steps a second', ({ sft_steps_per_second }) => sft_steps_per_second],
  ['reinforcement steps a second', ({ rl_steps_per_second }) => rl_steps_per_second],
  [
    'sampled tokens a second',
    ({ rollout_tokens_per_second }) => Math.round(rollout_tokens_per_second),
  ],
]

/** A card of the same adapter and browser replaces the one before. */
export const fileName = ({ adapter, browser }) =>
  `${`${adapter} ${browser}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')}.json`

/** Names come from links: what Markdown or HTML would take for its own is escaped. */
const cell = (value) => String(value).replace(/[|\\<>`*_[\]]/g, (mark) => `\\${mark}`)

/** A Markdown table, a row for each card. */
export function cardTable(cards) {
  if (cards.length === 0) return 'No card yet.'
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [
    line(COLUMNS.map(([title]) => title)),
    line(COLUMNS.map(() => '---')),
    ...cards.map((card) => line(COLUMNS.map(([, value]) => cell(value(card))))),
  ].join('\n')
}

/** The document with this table between its two marks. */
export const withTable = (text, table) =>
  text.replace(
    /(<!-- cards -->\n)[\s\S]*(<!-- end of cards -->)/,
    (_, start, end) => `${start}\n${table}\n\n${end}`,
  )
