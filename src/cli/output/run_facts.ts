// Collects the facts that run.json holds about a run.

import { resolvePhases } from '../../document/experiment/resolve.ts'
import type { RolloutDType } from '../../document/experiment/rollout_dtype.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { SteeringEntry } from '../../document/experiment/steering/actions.ts'
import type { RunHistory } from '../../host/protocol/checkpoint_facts.ts'
import type { AdapterFacts } from '../../kernels/device/adapter.ts'
import type { MatmulChoice } from '../../kernels/matmul/matmul_variants.ts'
import type { RecordedDiagnosis } from '../../record/diagnosis/diagnosis.ts'
import type { PhaseReason } from '../../rl/config/phase.ts'
import type { ProgramFacts } from '../../tasks/task/program_facts.ts'

/** What happened, beside what was asked for. */
export interface RunFacts {
  /** The run's id, which its checkpoints have too. */
  readonly record: string
  /** The checkpoint that it started from as a new run. */
  readonly parent?: { readonly record: string; readonly step: number }
  /** Where it was cut short and continued, with what took the steps from there on. */
  readonly resumed?: readonly ResumedFact[]
  readonly status: 'running' | 'finished' | 'stopped' | 'failed'
  /** Why it failed. */
  readonly error?: string
  readonly adapter: AdapterFacts
  readonly versions: Readonly<Record<string, string>>
  /** A phase begins with the step after `step`. */
  readonly phases: readonly {
    readonly step: number
    readonly phase: number
    readonly name: string
    readonly reason: PhaseReason
  }[]
  /** What was done to the run, as its document says, in order. */
  readonly steering: readonly (SteeringEntry & { readonly refused?: string })[]
  /** Weights that the run began with instead of new ones. */
  readonly warm_start?: string
  /** A Hugging Face model directory that it began with. */
  readonly model?: string
  /** Kernels of the matrix products, where they were not the default ones: `--matmul` takes them
   * from here. */
  readonly matmul?: MatmulChoice
  /** What became of `rollout.dtype: float16`, where a phase asks for it. */
  readonly rollout_dtype?: RolloutDType
  /** The text of every token id of its model. */
  readonly tokens: readonly string[]
  /** What the run did otherwise than its document says, a sentence each. */
  readonly remarks?: readonly string[]
  /** What became of the calls of a person's programs, the trial before training included. */
  readonly programs?: readonly ProgramFacts[]
  /** What went wrong, each at its worst. */
  readonly findings: readonly RecordedDiagnosis[]
  readonly steps: number
  readonly memory_peak_bytes: number
  readonly wall_time_s: number
}

/** What a history says of a run: the phases that began, and what was done to it. `experiment`: as
 * it is by now. */
export function historyFacts(
  { phase_switches, steered }: RunHistory,
  experiment: Experiment,
): Pick<RunFacts, 'phases' | 'steering'> {
  const phases = resolvePhases(experiment)
  return {
    phases: phase_switches.map((begun) => ({ ...begun, name: phases[begun.phase].name })),
    steering: steered.map(({ entry, refused }) => ({
      ...entry,
      ...(refused !== undefined && { refused }),
    })),
  }
}

interface ResumedFact {
  /** The last step of the checkpoint. */
  readonly step: number
  readonly understory: string
  readonly adapter: string
}
