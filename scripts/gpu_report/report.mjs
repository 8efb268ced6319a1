// Compiles every reported kernel in every mode, holds what comes out to the bars, and makes the table of docs/gpu.md.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadVite, ROOT } from '../project.mjs'
import { compileKernels, MODES } from './driver.mjs'
import { judge } from './machine_code.mjs'

const WORK = join(ROOT, 'dist/gpu_report')

/** { name, kind, of: what is said in each mode } of every kernel. */
export async function measure(driver) {
  const { runnerImport } = await loadVite()
  const quiet = { configFile: false, logLevel: 'error' }
  const { module } = await runnerImport(join(ROOT, 'bench/gpu_kernels.ts'), quiet)
  const kernels = module.reportedKernels()
  mkdirSync(WORK, { recursive: true })
  const file = join(WORK, 'kernels.json')
  writeFileSync(file, JSON.stringify(kernels))
  const said = Object.keys(MODES).map((mode) => [mode, compileKernels(driver, file, mode, WORK)])
  return kernels.map(({ name, kind, stage_fmas }) => ({
    name,
    kind,
    of: Object.fromEntries(
      said
        .filter(([, kernels]) => kernels[name])
        .map(([mode, kernels]) => [
          mode,
          judge(kernels[name], { stage_fmas, family: MODES[mode].family }),
        ]),
    ),
  }))
}

/** Of the variant that large products are to take: share of the peak that its vector instructions and its loads leave. */
const LARGE = {
  variant: /^matmul_(nn|nt|tn|nt_add)_staged_(64x64|128x128)_8x8$/,
  valu: 0.85,
  cache: 0.8,
}
const MIN_WAVES = 4
const ATTENTION = { kernels: /forward|backward/, tiled: /quads/, valu: 0.4, trips: 2 }
const MAX_TRIPS_AFTER = 6

/** What falls short of the bars, a line each. */
export function shortfalls(judged) {
  const out = []
  for (const { name, kind, of } of judged)
    for (const [mode, k] of Object.entries(of)) {
      const hold = (holds, what) => holds || out.push(`${name}, ${mode}: ${what}`)
      hold(k.spilled === 0 && k.scratch === 0, `spills ${k.spilled} registers, ${k.scratch} bytes`)
      if (kind === 'attention') {
        hold(k.waves >= MIN_WAVES, `${k.waves} waves`)
        if (ATTENTION.tiled.test(name))
          hold(k.valu_bound >= ATTENTION.valu, `VALU bound ${percent(k.valu_bound)}`)
        if (ATTENTION.tiled.test(name))
          hold(k.trips <= ATTENTION.trips, `${k.trips} round trips a loop`)
      }
      if (!LARGE.variant.test(name) || !mode.startsWith('navi31')) continue
      hold(k.waves >= MIN_WAVES, `${k.waves} waves`)
      hold(k.valu_bound >= LARGE.valu, `VALU bound ${percent(k.valu_bound)}`)
      hold(k.cache_bound >= LARGE.cache, `cache bound ${percent(k.cache_bound)}`)
      hold(k.trips_after <= MAX_TRIPS_AFTER, `${k.trips_after} round trips after the loop`)
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
        ...[
          name,
          k.vgprs,
          k.waves,
          k.spilled,
          k.fmas,
          percent(k.valu_bound),
          percent(k.cache_bound),
        ],
        ...[k.trips, k.trips_after, ...others.map((mode) => percent(of[mode]?.valu_bound))],
      ]
    })
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_, i) => (i ? '--:' : '---'))), ...rows.map(line)].join('\n')
}
