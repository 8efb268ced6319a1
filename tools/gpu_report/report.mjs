// Compiles every reported kernel in every mode, holds what comes out to the bars, and makes the
// table of docs/log/gpu.md.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadVite, ROOT } from '../../scripts/project.mjs'
import { compileForIntel, compileKernels, MODES } from './driver.mjs'
import { judgeIntel } from './intel_code.mjs'
import { judge } from './machine_code.mjs'

const WORK = join(ROOT, 'dist/gpu_report')

async function loadKernels() {
  const { runnerImport } = await loadVite()
  const quiet = { configFile: false, logLevel: 'error' }
  const { module } = await runnerImport(join(ROOT, 'bench/gpu_kernels.ts'), quiet)
  return module.reportedKernels()
}

/** All that a compiler is given of this kernel. Throws where none has this name. */
export async function textOf(name) {
  const kernels = await loadKernels()
  const found = kernels.find((kernel) => kernel.name === name)
  if (found) return found.wgsl
  const near = kernels.map((kernel) => kernel.name).filter((known) => known.includes(name))
  throw new Error(
    `There is no kernel ${name}. ${near.length ? `Near it: ${near.join(', ')}.` : 'The report has those of src/kernels/, without the policy losses.'}`,
  )
}

async function writeKernels(wanted = (kernels) => kernels) {
  const kernels = wanted(await loadKernels())
  mkdirSync(WORK, { recursive: true })
  const file = join(WORK, 'kernels.json')
  writeFileSync(file, JSON.stringify(kernels))
  return { kernels, file }
}

/** Kernels that decide a run. Tiles of 128 are left out: the compiler takes minutes to spill
 * them. */
const ASKED_OF_INTEL =
  /^(matmul_(nn|nt|tn)_(vector|slices|skinny|subgroups|staged_(?!128))\w*(?<!bf16)|(attention|vocab_head)_(forward|backward)\w*(?<!bf16)|decode_\w+|rms_norm_\w+)$/

/** { name, of: what Mesa's compiler for Intel says } of the kernels that it is asked about. */
export async function measureIntel(driver) {
  const { kernels, file } = await writeKernels((all) =>
    all
      .filter(({ name }) => ASKED_OF_INTEL.test(name))
      .map(({ wgsl_for_intel, ...kernel }) => ({ ...kernel, wgsl: wgsl_for_intel ?? kernel.wgsl })),
  )
  const said = compileForIntel(driver, file, WORK)
  return kernels.flatMap(({ name }) => {
    const of = said[name] && judgeIntel(said[name])
    return of ? [{ name, of }] : []
  })
}

/** { name, of: what is said in each mode } of every kernel. */
export async function measure(driver) {
  const { kernels, file } = await writeKernels()
  const said = Object.keys(MODES).map((mode) => [mode, compileKernels(driver, file, mode, WORK)])
  return kernels.map(({ name, stage_fmas }) => ({
    name,
    of: Object.fromEntries(
      said
        .filter(([, kernels]) => kernels[name])
        .map(([mode, kernels]) => [mode, judge(kernels[name], { stage_fmas, ...MODES[mode] })]),
    ),
  }))
}

/** With fewer than four waves: what holds more in registers than leaves room for another. */
const FEW_WAVES = [
  // 128 results a lane, by which an H100 is fastest at the largest products.
  /_staged_128x128_16x8, navi/,
  // Defaults of software adapters, which no GPU takes unless they are pinned.
  /^(decode_linear|matmul_tn(_bias)?_vector_8x8_by_4), navi21/,
]
/** First a default of software adapters. With few registers in use the compiler reads what is added
 * one by one. */
const MANY_WAITS = [
  /^matmul_tn_vector_8x8, navi31 (default|clamp)$/,
  // Twice the results of a lane, read in as many parts.
  /^matmul_(nn_swiglu|tn_bias)_staged_128x128_16x8, /,
]
/** Heads of four channels, which no preset has: few multiply-adds a key stand beside an
 * exponential. */
const SMALL_HEADS = [/narrow_4,/]

const TWO = /navi31 (default|clamp)/

/** The bars, each with the kernels and the modes that it is for. `least` and `most` are of what
 * judge() says; `but` names kernels and modes that fall short of it today (docs/log/gpu.md says
 * why). */
const BARS = [
  { what: 'spilled registers', of: ({ spilled }) => spilled, most: 0 },
  {
    what: 'instructions of matrix units',
    of: ({ matrix_ops }) => matrix_ops,
    least: 1,
    kernels: /_matrices_/,
  },
  { what: 'bytes of scratch', of: ({ scratch }) => scratch, most: 0 },
  { what: 'waves', of: ({ waves }) => waves, least: 4, but: FEW_WAVES },
  {
    what: 'VALU %',
    of: ({ valu_bound }) => 100 * valu_bound,
    least: 90,
    kernels: /^matmul_\w+_staged_(64|128)x(64|128)_(8|16)x8(_bf16)?$/,
    modes: TWO,
  },
  {
    what: 'cache %',
    of: ({ cache_bound }) => 100 * cache_bound,
    least: 90,
    kernels: /^matmul_\w+_staged_(64|128)x(64|128)_(8|16)x8(_bf16)?$/,
    modes: TWO,
  },
  {
    what: 'round trips after the loop',
    of: ({ trips_after }) => trips_after,
    most: 6,
    // Behind a loop of decode_token come the other kernels of its block.
    kernels: /^(matmul|decode_(linear|swiglu))/,
    but: MANY_WAITS,
  },
  {
    what: 'round trips a key',
    of: ({ trips }) => trips,
    most: 2,
    kernels: /^attention_/,
  },
  {
    what: 'VALU %',
    of: ({ valu_bound }) => 100 * valu_bound,
    least: 40,
    kernels: /^(attention|vocab_head)_(forward|backward)/,
    but: SMALL_HEADS,
  },
]

/** What falls short of the bars, a line each. */
export function shortfalls(judged) {
  const out = []
  for (const { name, of } of judged)
    for (const [mode, said] of Object.entries(of))
      for (const { what, of: saidOf, least = 0, most = Infinity, ...where } of BARS) {
        const { kernels = /./, modes = /./, but = [] } = where
        const value = saidOf(said)
        if (value === undefined || Number.isNaN(value)) continue
        if (!kernels.test(name) || !modes.test(mode)) continue
        if (but.some((except) => except.test(`${name}, ${mode}`))) continue
        if (Math.round(value) < least || value > most)
          out.push(`${name}, ${mode}: ${Math.round(value)} ${what}`)
      }
  return out
}

const percent = (x) => (x === undefined ? '' : `${Math.round(100 * x)}`)

/** A Markdown table, products first. */
export function tableOf(judged) {
  const [first, ...others] = Object.keys(MODES)
  const head = [
    'kernel',
    'VGPRs',
    'waves',
    'spilled',
    'FMAs',
    'VALU %',
    'cache %',
    'trips',
    'trips after',
    ...others.map((mode) => `VALU %, ${mode}`),
  ]
  const rows = judged
    .filter(({ of }) => of[first]?.fmas >= 8)
    .map(({ name, of }) => {
      const k = of[first]
      return [
        name,
        k.vgprs,
        k.waves,
        k.spilled,
        k.fmas,
        percent(k.valu_bound),
        percent(k.cache_bound),
        k.trips,
        k.trips_after,
        ...others.map((mode) => percent(of[mode]?.valu_bound)),
      ]
    })
  return markdown(head, rows)
}

/** What an Intel GPU begins on (src/kernels/matmul/gpu_variants.ts). */
const FOR_INTEL = /^matmul_(nn|nt|tn|nt_add)_(vector_4x4|slices_(32x32|16x16)|subgroups_16x16)$/

/** Of these, what is spilled on Intel, a line each. */
export const intelShortfalls = (judged) =>
  judged
    .filter(({ name, of }) => FOR_INTEL.test(name) && of.spilled > 0)
    .map(({ name, of }) => `${name}, Intel: ${of.spilled} spills and fills`)

/** What Mesa's compiler for Intel says, products first. */
export const intelTable = (judged) =>
  markdown(
    ['kernel', 'lanes', 'instructions', 'spills and fills', 'FMAs', 'FMA %'],
    judged
      .filter(({ of }) => of.fmas >= 8 || of.spilled > 0)
      .map(({ name, of }) => [
        name,
        of.lanes,
        of.instructions,
        of.spilled,
        of.fmas ?? '',
        percent(of.share),
      ]),
  )

function markdown(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_, i) => (i ? '--:' : '---'))), ...rows.map(line)].join('\n')
}
