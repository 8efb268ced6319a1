// Finds what goes wrong in a run from its metrics: a name, the evidence in numbers, and the two
// settings most likely to help.
import { resolvePhases } from '../../document/experiment/resolve.ts'
import type { Phase } from '../../rl/config/phase.ts'
import { sampledTeacherCaughtUp, teacher_caught_up } from './distill_rules.ts'
import { entropy_target_missed } from './entropy_rules.ts'
import { type DiagnosisRule, Evidence, PhaseEvidence, type RunView } from './evidence.ts'
import type { Finding } from './finding.ts'
import { chosen_logps_fall } from './preference_rules.ts'
import { unanswered, unscored } from './reward_rules.ts'
import {
  cut_off,
  held_out_gap,
  length_growth,
  no_informative_groups,
  reward_collapse,
} from './score_rules.ts'
import { clip_fraction, entropy_collapse, kl_runaway, value_loss_flat } from './update_rules.ts'

/** Every diagnosis, in the order in which equally severe ones are named. */
export const DIAGNOSES = [
  'reward_collapse',
  'no_informative_groups',
  'clip_fraction',
  'kl_runaway',
  'entropy_collapse',
  'entropy_target_missed',
  'value_loss_flat',
  'cut_off',
  'length_growth',
  'held_out_gap',
  'unscored',
  'unanswered',
  'chosen_logps_fall',
  'teacher_caught_up',
] as const
export type DiagnosisName = (typeof DIAGNOSES)[number]

export interface Diagnosis extends Finding {
  readonly name: DiagnosisName
  readonly phase: number
}

/** Of phases that are no reinforcement, by kind. */
const OTHER_RULES = { preference: { chosen_logps_fall }, distill: { teacher_caught_up } } as const
type OtherName = {
  [K in keyof typeof OTHER_RULES]: keyof (typeof OTHER_RULES)[K]
}[keyof typeof OTHER_RULES]

type RlName = Exclude<DiagnosisName, OtherName> | 'teacher_caught_up'

const RULES: Readonly<Record<RlName, DiagnosisRule>> = {
  reward_collapse,
  no_informative_groups,
  clip_fraction,
  kl_runaway,
  entropy_collapse,
  entropy_target_missed,
  value_loss_flat,
  cut_off,
  length_growth,
  held_out_gap,
  unscored,
  unanswered,
  teacher_caught_up: sampledTeacherCaughtUp,
}

/** The findings in the metrics of the current phase, severe ones first; none of a warm start or a
 * reward model. A call costs the same for a run of any length. Thresholds are
 * beside the rules. */
export function diagnose(run: RunView): Diagnosis[] {
  const phase = resolvePhases(run.experiment)[run.phase]
  const found = findingsOf(run, phase).flatMap(([name, finding]) =>
    finding ? [{ ...finding, name: name as DiagnosisName, phase: run.phase }] : [],
  )
  return found.sort((a, b) => Number(b.is_severe) - Number(a.is_severe))
}

function findingsOf(run: RunView, phase: Phase | undefined): [string, Finding | undefined][] {
  if (phase?.kind === 'rl') {
    const evidence = new PhaseEvidence(run, phase)
    return Object.entries(RULES).map(([name, rule]) => [name, rule(evidence)])
  }
  if (phase?.kind !== 'preference' && phase?.kind !== 'distill') return []
  const evidence = new Evidence(run)
  const rules: Readonly<Record<string, DiagnosisRule<Evidence>>> = OTHER_RULES[phase.kind]
  return Object.entries(rules).map(([name, rule]) => [name, rule(evidence)])
}

/** A diagnosis as a run's record keeps it: at its worst, and since when. */
export interface RecordedDiagnosis extends Diagnosis {
  readonly first_step: number
}

/** Whether a diagnosis is clearly worse than it was: it has become severe, or a quarter of a
 * threshold was added. */
export const isWorse = (
  now: Pick<Diagnosis, 'is_severe' | 'excess'>,
  before: Pick<Diagnosis, 'is_severe' | 'excess'>,
): boolean => (now.is_severe && !before.is_severe) || now.excess > before.excess + 0.25

/** All diagnoses of a run from its first step to its last, one of each name per phase. */
export class DiagnosisRecord {
  readonly #found = new Map<string, RecordedDiagnosis>()

  add(found: readonly Diagnosis[]): void {
    for (const diagnosis of found) {
      const key = `${diagnosis.phase} ${diagnosis.name}`
      const known = this.#found.get(key)
      const worst = known && known.excess >= diagnosis.excess ? known : diagnosis
      this.#found.set(key, { ...worst, first_step: known?.first_step ?? diagnosis.step })
    }
  }

  /** In the order in which they were found first. */
  all(): RecordedDiagnosis[] {
    return [...this.#found.values()]
  }
}
