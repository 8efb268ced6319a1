// Declares everything that decides a run: what it trains, on what, in which phases, and what it
// measures.
import type { MatmulChoice } from '../../kernels/matmul/matmul_variants.ts'
import type { ModelConfig } from '../../model/layout/config.ts'
import type { Fusion } from '../../model/transformer/model.ts'
import type { Reward } from '../../tasks/rewards/composed.ts'
import type { Task } from '../../tasks/task/task.ts'
import type { Tool } from '../../tasks/tools/tool.ts'
import type { Data } from './data.ts'
import type { LensFiles } from './lens_settings.ts'
import type { Phase } from './phase.ts'
import type { Probe, Validation } from './validation.ts'

/** A task with this value of the parameter of a curriculum. */
export interface TaskLevel {
  readonly value: number
  readonly task: Task
}

export interface TrainerConfig {
  readonly seed: number
  readonly task: Task
  /** What responses are worth; default: the task's own score. */
  readonly reward?: Reward | undefined
  /** Its `vocab_size` is at least that of the task's tokenizer. */
  readonly model: ModelConfig
  /** Another model, of the same vocabulary, that phases may learn from. */
  readonly teacher?: ModelConfig | undefined
  readonly phases: readonly Phase[]
  /** Lenses that phases take in place of fitting their own. */
  readonly lensFiles?: LensFiles | undefined
  readonly validation: Validation
  readonly probe: Probe
  /** Which problems the run trains on; default: endless draws from all training problems. */
  readonly data?: Data
  /** The task at every value that a curriculum's parameter goes through, in order; the last is the
   * task itself. */
  readonly levels?: readonly TaskLevel[]
  /** Tools that the policy may call, in phases whose rows have several turns. */
  readonly tools?: readonly Tool[]
  /** Less memory for more arithmetic: the same bits (model/transformer/workspace.ts). */
  readonly enable_gradient_checkpointing?: boolean
  /** Leave padding out of log-prob and update passes: the same numbers to rounding, for less work.
   * Default true. */
  readonly use_remove_padding?: boolean
  /** Kernels of the linear layers (see tuneMatmul), where they are not the default ones. Results
   * are the same bits for the same choice, and differ in rounding between choices. */
  readonly matmul?: MatmulChoice | undefined
  /** What runs inside a matrix product instead of after it (model/transformer/fusion.ts). Default:
   * all of it. */
  readonly fusion?: Fusion | undefined
  /** Segments that this run had trained when its phases were others (trainedSegments). */
  readonly trainedBefore?: readonly boolean[] | undefined
}
