// Declares the experiment document: its sections, and the schema that fills in every default. Rules
// between fields are in rules/.
import * as z from 'zod/mini'
import { ACTOR, type Actor } from '../../../rl/config/actor.ts'
import { ALGORITHM, type AlgorithmFields } from '../../../rl/config/algorithm.ts'
import { CRITIC, type Critic } from '../../../rl/config/critic.ts'
import type { Data } from '../../../rl/config/data.ts'
import { DATA } from '../../../rl/config/data.ts'
import type { Rollout } from '../../../rl/config/rollout.ts'
import { ROLLOUT } from '../../../rl/config/rollout.ts'
import type { Probe, Validation } from '../../../rl/config/validation.ts'
import { PROBE, VALIDATION } from '../../../rl/config/validation.ts'
import { filled, show } from '../../../rl/fields/field.ts'
import { TASKS } from '../../../tasks/index.ts'
import type { RewardChoice } from '../../../tasks/rewards/composed.ts'
import type { ToolChoice } from '../../../tasks/tools/index.ts'
import { MODEL, type ModelFields } from '../fields/model_fields.ts'
import { type PhaseDocument, phaseSchema } from '../fields/phases.ts'
import { KERNELS, ROOT, type RootFields } from '../fields/run_fields.ts'
import { type TaskChoice, taskSchema } from '../fields/task_fields.ts'
import { TEACHER, type TeacherFields } from '../fields/teacher_fields.ts'
import { rewardSchema } from '../lists/reward_schema.ts'
import { toolsSchema } from '../lists/tools.ts'
import { type SteeringEntry, steeringSchema } from '../steering/actions.ts'

/** The experiment document, version 1, with every default filled in. */
export interface Experiment extends RootFields {
  readonly version: 1
  readonly task: TaskChoice
  /** What the policy may call, where it has several turns. */
  readonly tools: readonly ToolChoice[]
  readonly data: Required<Data>
  /** What responses are worth; without parts, the task's own score. */
  readonly reward: RewardChoice
  readonly model: ModelFields
  /** Another model that phases may learn from. */
  readonly teacher: TeacherFields
  readonly phases: readonly PhaseDocument[]
  readonly rollout: Rollout
  readonly actor: Actor
  readonly critic: Critic
  readonly algorithm: AlgorithmFields
  readonly validation: Required<Validation>
  readonly probe: Required<Probe>
  /** The kernels of matrix products as text (pinned_kernels.ts); null = chosen by measuring. */
  readonly kernels: string | null
  /** What a person did to the run while it trained, in order; a run of this document does the
   * same. */
  readonly steering: readonly SteeringEntry[]
}

/** The only version that there is so far. */
export const EXPERIMENT_VERSION = 1

/** The most phases of an experiment. */
export const MAX_PHASES = 16

const phases = z
  .array(phaseSchema, { error: (i) => `expected a list of phases, got ${show(i.input)}` })
  .check(
    z.minLength(1, { error: 'expected at least one phase' }),
    z.maxLength(MAX_PHASES, { error: `expected at most ${MAX_PHASES} phases` }),
  )

const section = (schema: z.ZodMiniType): z.ZodMiniType => z.prefault(schema, {} as never)

/** The whole document; rules/rules.ts has the rules between its fields. */
export const experimentSchema = filled(ROOT, {
  version: z._default(
    z.literal(EXPERIMENT_VERSION, {
      error: (i) => `expected version ${EXPERIMENT_VERSION}, got ${show(i.input)}`,
    }),
    EXPERIMENT_VERSION,
  ),
  task: z.prefault(taskSchema, { id: TASKS[0].id } as never),
  tools: z._default(toolsSchema, []),
  data: section(filled(DATA)),
  reward: rewardSchema,
  model: section(filled(MODEL)),
  teacher: section(filled(TEACHER)),
  phases: z.prefault(phases, [{ kind: 'sft' }, { kind: 'rl' }] as never),
  rollout: section(filled(ROLLOUT)),
  actor: section(filled(ACTOR)),
  critic: section(filled(CRITIC)),
  algorithm: section(filled(ALGORITHM)),
  validation: section(filled(VALIDATION)),
  probe: section(filled(PROBE)),
  kernels: z._default(KERNELS.kernels.schema, null),
  steering: z._default(steeringSchema(phaseSchema), []),
}) as unknown as z.ZodMiniType<Experiment>
