// Writes the report for somebody who is asked for help: versions, adapter, limits, experiment, last
// errors. It holds nothing about the person.

import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { encodeLink } from '../../document/links/link.ts'
import type { AdapterFacts } from '../../kernels/device/adapter.ts'
import type { LabState } from './store.ts'

/** What the page knows besides its state. */
export interface ReportFacts {
  readonly understory: string
  readonly protocol: number
  /** Name and version, e.g. “Chrome 144”. */
  readonly browser: string
  readonly hasWebgpu: boolean
  readonly isSecure: boolean
  readonly isIsolated: boolean
  /** Bytes of the page's storage, where the browser tells. */
  readonly storage: { readonly usage: number; readonly quota: number } | undefined
  /** Newest last. */
  readonly errors: readonly PageError[]
}

/** Something that went wrong on this page. */
export interface PageError {
  /** Seconds since the page was opened. */
  readonly atS: number
  readonly message: string
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

function adapterLines(adapter: AdapterFacts): string[] {
  const { vendor, architecture, description, is_software, features } = adapter
  return [
    `adapter: ${[vendor, architecture, description].filter(Boolean).join(' · ')}${is_software ? ' (software)' : ''}`,
    `features: ${features.join(', ') || 'none'}`,
    `limits: buffers up to ${megabytes(adapter.max_buffer_bytes)}, bindings up to ${megabytes(adapter.max_binding_bytes)}`,
  ]
}

/** The name of an experiment may say who made it. */
const nameless = (experiment: Experiment): Experiment => ({ ...experiment, name: '' })

/** The report as plain text, one fact a line. */
export function writeReport(state: LabState, facts: ReportFacts): string {
  const { adapter, error, memory, counts, kernels } = state
  const ofRun = state.runDocument ?? state.experiment
  const yes = (is: boolean) => (is ? 'yes' : 'no')
  const lines = [
    `Understory ${facts.understory}, protocol ${facts.protocol}`,
    `browser: ${facts.browser}; WebGPU ${yes(facts.hasWebgpu)}, secure page ${yes(facts.isSecure)}, isolated ${yes(facts.isIsolated)}`,
    ...(adapter ? adapterLines(adapter) : ['adapter: none']),
    `status: ${state.status}, step ${state.step}, phase ${state.phase}`,
    ...(error ? [`error: ${error.code}: ${error.message}`] : []),
    `experiment: ${encodeLink(nameless(ofRun))}`,
    ...(kernels ? [`kernels: ${kernels}`] : []),
    ...(memory
      ? [
          `GPU memory: ${Object.entries(memory)
            .map(([kind, bytes]) => `${kind} ${megabytes(bytes)}`)
            .join(', ')}`,
        ]
      : []),
    ...(counts
      ? [
          `a step: ${counts.dispatches_per_step ?? '–'} dispatches, ${counts.submits_per_step ?? '–'} submits; buffers since warm-up ${counts.buffers_since_warmup ?? '–'}`,
        ]
      : []),
    ...(facts.storage
      ? [`storage: ${megabytes(facts.storage.usage)} of ${megabytes(facts.storage.quota)}`]
      : []),
    ...(facts.errors.length > 0 ? ['last errors:'] : []),
    ...facts.errors.map(({ atS, message }) => `  after ${atS.toFixed(0)} s: ${message}`),
  ]
  return `${lines.join('\n')}\n`
}
