// Reads what Mesa's compiler for Intel GPUs says of a kernel: how many lanes run as one, what it
// spilled, and which share of the hottest loop's instructions multiplies and adds.

const HEAD =
  /^SIMD(\d+) shader: (\d+) instructions\. \d+ loops\. (\d+) cycles\. (\d+):(\d+) spills:fills, (\d+) sends/gm
const FMA = /^(\(.*?\) )?mad\(\d+\)\s+\S+<1>F/
/** Waits of the scoreboard, and what the compiler says beside the code. */
const NONE = /^(sync|START|END|LABEL|-|$)/

/** The loop with most multiply-adds that holds no other loop. */
function hotLoop(lines) {
  const labels = new Map(
    lines.flatMap((line, i) => {
      const [, name] = /^(LABEL\d+):/.exec(line) ?? []
      return name ? [[name, i]] : []
    }),
  )
  const loops = lines.flatMap((line, end) => {
    const [, name] = /^(?:\(.*?\) )?while\(\d+\)\s+JIP:\s+(LABEL\d+)/.exec(line) ?? []
    return labels.has(name) ? [{ start: labels.get(name), end }] : []
  })
  const innermost = loops.filter(
    (loop) =>
      !loops.some((other) => other !== loop && other.start > loop.start && other.end < loop.end),
  )
  const costs = innermost.map(({ start, end }) => {
    const body = lines.slice(start, end + 1).filter((line) => !NONE.test(line))
    return { fmas: body.filter((line) => FMA.test(line)).length, instructions: body.length }
  })
  return costs.sort((a, b) => b.fmas - a.fmas)[0]
}

/** What the report says of a kernel from the text that the driver printed for it; undefined where
 * it printed no code. */
export function judgeIntel(text) {
  // Of several widths the last one printed is taken.
  const [head] = [...text.matchAll(HEAD)].slice(-1)
  if (!head) return undefined
  const [, lanes, instructions, , spills, fills] = head.map(Number)
  const code = text.slice(head.index + head[0].length)
  // Each send is followed by a line about its message.
  const lines = code
    .split('\n')
    .filter((line) => !/MsgDesc/.test(line))
    .map((line) => line.trim())
  const hot = hotLoop(lines)
  return {
    lanes,
    instructions,
    spilled: spills + fills,
    ...(hot && hot.fmas > 0 && { fmas: hot.fmas, share: hot.fmas / hot.instructions }),
  }
}
