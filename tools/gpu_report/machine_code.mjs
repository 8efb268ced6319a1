// Reads AMD machine code as Mesa's compiler prints it: loops, what one trip of the hottest costs,
// and how often it waits for memory. Costs are those of the compiler's own model; scalar, memory
// and branch instructions count nothing, so what follows is an upper bound on the share of a GPU's
// float32 peak.

/** Bytes that a lane gets from a load, by the end of the instruction's name. */
const WIDTHS = { b32: 4, dword: 4, b64: 8, dwordx2: 8, b96: 12, dwordx3: 12, b128: 16, dwordx4: 16 }
/** fma_mix takes halves as they are. */
const FMA = /^v_(fma|fmac|fmaak|fmamk|fma_mix)_f32/
/** RDNA3 issues these for 64 lanes in one cycle, others in two. */
const QUICK = /^v_(fma|fmac|fmaak|fmamk|mul|add|sub|subrev|max|min)_f32|^v_(mov|cndmask)_b32/
/** A quarter as fast: products of whole numbers. */
/** Two instructions of a wave of 32 lanes in one cycle. */
const DUAL_FMA = /v_dual_(fmac|fmaak|fmamk)_f32/g
const SLOW = /^v_(mul_lo_u32|mul_hi_u32|mul_hi_i32|mad_u64_u32|mad_i64_i32)/

/** What a kernel's compilation said, from the text that the driver printed for it. `wave` = lanes
 * of a wave. */
export function readKernel(text, wave = 64) {
  const numbers = Object.fromEntries(
    [...text.matchAll(/^([A-Z][\w .-]+): (\d+)$/gm)].map(([, name, value]) => [
      name,
      Number(value),
    ]),
  )
  const [, code = ''] = /\ndisasm:\n([\s\S]*?)\n\n/.exec(text) ?? []
  const lines = code
    .split('\n')
    .map((line) => line.replace(/\s*;.*$/, '').trim())
    .filter(Boolean)
  return {
    vgprs: numbers.VGPRs,
    spilled: (numbers['Spilled VGPRs'] ?? 0) + (numbers['Spilled SGPRs'] ?? 0),
    scratch: numbers['Scratch size'],
    lds: numbers['LDS size'],
    /** That a SIMD holds at once; the driver counts waves of 32 lanes. */
    waves: numbers['Subgroups per SIMD'] / (wave / 32),
    lines,
  }
}

const opOf = (line) => line.split(/\s+/)[0].replace(/_e(32|64)$/, '')
const isLabel = (line) => /^BB\d+:$/.test(line)

function kindOf(op) {
  if (op.startsWith('v_')) return 'vector'
  if (op.startsWith('ds_')) return 'workgroup'
  if (/^(buffer|global|scratch)_/.test(op)) return 'memory'
  if (/^s_(buffer_)?load/.test(op)) return 'scalar'
  return 'control'
}

const isLoad = (op) => /_load|_read/.test(op)
const bytesOf = (op) =>
  isLoad(op) ? (WIDTHS[op.split('_').at(-1)] ?? 0) * (/2addr|read2/.test(op) ? 2 : 1) : 0

/** How a GPU counts: its family, and the lanes of its waves. */
const RDNA3 = { family: 'navi31', wave: 64 }

function cyclesOf(op, { family, wave }) {
  if (!op.startsWith('v_')) return 0
  const slow = SLOW.test(op) ? 4 : 1
  if (wave === 32) return slow
  return family === 'navi31' && QUICK.test(op) ? 1 : 2 * slow
}

const fmasOf = (line, op) => (FMA.test(op) ? 1 : (line.match(DUAL_FMA)?.length ?? 0))

/** FMAs, cycles and bytes of some lines. */
function costOf(lines, gpu) {
  const cost = { fmas: 0, cycles: 0, memory_bytes: 0, workgroup_bytes: 0 }
  for (const line of lines) {
    const op = opOf(line)
    cost.fmas += fmasOf(line, op)
    cost.cycles += cyclesOf(op, gpu)
    if (kindOf(op) === 'memory') cost.memory_bytes += bytesOf(op)
    if (kindOf(op) === 'workgroup') cost.workgroup_bytes += bytesOf(op)
  }
  return cost
}

const plus = (a, b, times = 1) =>
  Object.fromEntries(Object.keys(a).map((key) => [key, a[key] + times * b[key]]))

/** Waits for memory that follow one another: each waits for a load that was issued after the wait
 * before it. Workgroup memory does not count. */
export function tripsOf(lines) {
  const issued = { vmcnt: [], lgkmcnt: [] }
  let [now, trips] = [0, 0]
  for (const line of lines) {
    const op = opOf(line)
    const kind = kindOf(op)
    if (kind === 'memory' && isLoad(op)) issued.vmcnt.push(now)
    if (kind === 'scalar') issued.lgkmcnt.push(now)
    if (kind === 'workgroup') issued.lgkmcnt.push(-1)
    if (op !== 's_waitcnt') continue
    let isTrip = false
    for (const [, counter, left] of line.matchAll(/(vmcnt|lgkmcnt)\((\d+)\)/g)) {
      const done = issued[counter].splice(0, Math.max(0, issued[counter].length - Number(left)))
      if (done.includes(now)) isTrip = true
    }
    if (isTrip) [now, trips] = [now + 1, trips + 1]
  }
  return trips
}

/** Ranges of lines from a label to the last branch back to it. */
function loopsOf(lines) {
  const labels = labelsOf(lines)
  const ends = new Map()
  lines.forEach((line, i) => {
    const start = labels.get(/^s_c?branch\w*\s+(BB\d+)/.exec(line)?.[1])
    if (start !== undefined && start <= i) ends.set(start, i)
  })
  return [...ends].map(([start, end]) => ({ start, end }))
}

const labelsOf = (lines) =>
  new Map(lines.flatMap((line, i) => (isLabel(line) ? [[line.slice(0, -1), i]] : [])))

const inside = (outer, loop) => loop !== outer && loop.start >= outer.start && loop.end <= outer.end

/** The hottest loop: the one with most multiply-adds of its own; of a staged product the loop over
 * stages, with the loop over the steps of a whole stage as often as it runs. Undefined where no
 * loop multiplies. */
export function hotLoop(lines, { stage_fmas, ...gpu } = RDNA3) {
  const loops = loopsOf(lines)
  const own = (loop) => {
    const nested = loops.filter((other) => inside(loop, other))
    return lines.slice(loop.start, loop.end + 1).filter((line, i) => {
      const at = i + loop.start
      return !isLabel(line) && !nested.some(({ start, end }) => at >= start && at <= end)
    })
  }
  const costs = new Map(loops.map((loop) => [loop, costOf(own(loop), gpu)]))
  const hot = [...costs].sort(([, a], [, b]) => b.fmas - a.fmas)[0]
  if (!hot || hot[1].fmas === 0) return undefined
  let [loop, cost] = hot
  const outer = loops.filter((other) => inside(other, loop)).sort((a, b) => b.start - a.start)[0]
  if (stage_fmas && cost.fmas < stage_fmas && outer) {
    const times = (stage_fmas - costs.get(outer).fmas) / cost.fmas
    cost = plus(costs.get(outer), cost, times)
    loop = outer
  }
  return { ...cost, trips: tripsOf(own(loop)), end: loop.end }
}

/** Waits after the loop that ends at line `end` on the ways that store every result: into a tile
 * that lies inside, once where results overwrite and once where they add. Branches on lanes are not
 * taken. */
export function tripsAfter(lines, end) {
  const labels = labelsOf(lines)
  const ways = []
  const walk = (from, done, asked) => {
    const passed = [...done]
    for (let i = from; i < lines.length; i++) {
      const line = lines[i]
      if (!isLabel(line)) passed.push(line)
      const [, op, label] = /^(s_c?branch\w*)\s+(BB\d+)/.exec(line) ?? []
      const target = labels.get(label)
      if (op === undefined || target <= i) continue
      if (op === 's_branch') i = target
      else if (/scc/.test(op) && asked < 4) {
        walk(target, passed, asked + 1)
        asked++
      }
    }
    ways.push(passed)
  }
  walk(end + 1, [], 0)
  const storesOf = (way) => way.filter((line) => /^(buffer|global)_store/.test(line)).length
  const most = Math.max(...ways.map(storesOf))
  // A tile at an edge asks for every result, which has up to three stores, whether it is inside: it
  // tests most.
  const testsOf = (way) => way.filter((line) => /^s_cbranch_exec/.test(line)).length
  const storing = ways.filter((way) => storesOf(way) === most)
  const tests = storing.map(testsOf)
  const between = (Math.min(...tests) + Math.max(...tests)) / 2
  const inner = storing.filter((way) => testsOf(way) <= between)
  const whole = inner.sort((a, b) => a.length - b.length)
  const lengths = [...new Set(whole.map((way) => way.length))].slice(0, 2)
  return Math.max(...lengths.map((n) => tripsOf(whole.find((way) => way.length === n))))
}

/** Bytes a clock that a compute unit gets from its first cache and from workgroup memory: assumed,
 * not measured. */
const BYTES_A_CLOCK = 128
const FMAS_A_CLOCK = { navi31: 128, navi21: 64 }

/** Cycles of a multiply-add where a SIMD is at its peak. */
const fmaCycles = ({ family, wave }) => (family === 'navi31' ? wave / 64 : wave / 32)

/** What the report says of a kernel. Bounds are shares of the float32 peak. */
export function judge(text, { stage_fmas, family, wave = 64 }) {
  const { lines, ...read } = readKernel(text, wave)
  const numbers = { ...read, matrix_ops: lines.filter((line) => line.startsWith('v_wmma')).length }
  const hot = hotLoop(lines, { stage_fmas, family, wave })
  if (!hot) return numbers
  const { fmas, cycles, memory_bytes, workgroup_bytes, trips, end } = hot
  const cache = (bytes) => Math.min(1, (BYTES_A_CLOCK * fmas) / (FMAS_A_CLOCK[family] * bytes || 1))
  return {
    ...numbers,
    fmas,
    valu_bound: (fmaCycles({ family, wave }) * fmas) / cycles,
    cache_bound: Math.min(cache(memory_bytes), cache(workgroup_bytes)),
    trips,
    trips_after: tripsAfter(lines, end),
  }
}
