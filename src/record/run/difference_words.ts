// Says how an experiment differs from another one, in the words that a person would use. Names of
// runs are made here alone.

import { preferenceLabel } from '../../document/experiment/fields/preference_fields.ts'
import { placeWords, settingWords } from '../../document/experiment/form/setting_words.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { SteeringEntry } from '../../document/experiment/steering/actions.ts'
import { doneByHand } from '../../document/experiment/steering/steered_kernels.ts'
import { steeringWords } from '../../document/experiment/steering/words.ts'
import { methodName } from '../../document/presets/method_name.ts'
import type { FieldValue } from '../../rl/fields/field.ts'
import { TASKS } from '../../tasks/index.ts'
import { leavesOf } from './leaves.ts'

/** What a person did in a run, or what it ran on: no setting that anyone chose. */
const UNNAMED = /^kernels$|\.verdicts$/
/** What the method says already. */
const IN_METHOD =
  /(\.kind|\.adv_estimator|\.target_layer|algorithm\.filter_groups\.enable|algorithm\.norm_adv_by_std_in_grpo)$/

const unique = (words: readonly string[]): string[] => [...new Set(words)]

/** 'GRPO, then PPO'. */
const joined = ([first, ...others]: readonly string[]): string =>
  [first, ...others.map((other) => `then ${other}`)].join(', ')

/** 'GRPO', 'BuPO (GRPO), layer 2 first', 'GRPO, then PPO'. Reinforcement of an inner layer is BuPO,
 * by whichever estimator. */
export function methodWords(experiment: Experiment): string {
  const taught = experiment.phases.flatMap((phase) =>
    phase.kind === 'rl' || phase.kind === 'preference' || phase.kind === 'distill' ? [phase] : [],
  )
  if (taught.length === 0)
    return experiment.phases.some(({ kind }) => kind === 'sft') ? 'Supervised' : 'Reward model'
  const layers = unique(taught.map(({ target_layer }) => `${target_layer}`))
  const isInner = layers.some((layer) => layer !== 'final')
  const methods = unique(
    taught.map((phase) =>
      phase.kind === 'rl'
        ? methodName(experiment, phase)
        : phase.kind === 'distill'
          ? 'Distillation'
          : preferenceLabel(phase.preference),
    ),
  )
  if (!isInner) return joined(methods)
  const isBupo = taught.every(({ kind }) => kind === 'rl')
  const name = isBupo ? `BuPO (${joined(methods)})` : joined(methods)
  const [first, ...others] = layers
  if (others.length === 0) return `${name}, layer ${first}`
  if (others.join() === 'final') return `${name}, layer ${first} first`
  return `${name}, layers ${joined(layers)}`
}

/** 'lr 3e-4', 'phase 3: 20 steps'. */
const placedWords = (experiment: Experiment, path: string, value: FieldValue | undefined): string =>
  `${placeWords(path)}${settingWords(experiment, path, value)}`

/** What a person did in the run: 'lr 0.0015 after step 78'. */
function doneWords(experiment: Experiment, { step, ...action }: SteeringEntry): string {
  const what =
    action.kind === 'set' && action.value !== null
      ? placedWords(experiment, action.path, action.value)
      : steeringWords(action)
  return step === 0 ? what : `${what} after step ${step}`
}

/** Where two experiments with other phases cannot be compared field by field. */
const kindsOf = ({ phases }: Experiment): string => phases.map(({ kind }) => kind).join()

const hasInner = ({ phases }: Experiment): boolean =>
  phases.some((phase) => 'target_layer' in phase && phase.target_layer !== 'final')

function phasesWords(experiment: Experiment, from: Experiment): string {
  const has = ({ phases }: Experiment, kind: string) => phases.some((phase) => phase.kind === kind)
  if (has(from, 'rl') && !has(experiment, 'rl')) return 'no reinforcement'
  if (has(from, 'sft') && !has(experiment, 'sft')) return 'no supervised phase'
  if (hasInner(from) && !hasInner(experiment)) return 'no inner phase'
  const count = experiment.phases.length
  return `${count} ${count === 1 ? 'phase' : 'phases'}`
}

/** The task, or the data that it is made of. */
function taskWords({ task }: Experiment): string {
  if ('name' in task && typeof task.name === 'string' && task.name !== '') return task.name
  return TASKS.find(({ id }) => id === task.id)?.name.toLowerCase() ?? task.id.replaceAll('_', ' ')
}

/** Settings that belong together, and what is said of all of them in place of each. */
const WHOLES: readonly {
  readonly paths: RegExp
  readonly key: (experiment: Experiment) => unknown
  readonly words: (experiment: Experiment, from: Experiment) => string
}[] = [
  {
    paths: /^(task|data)\./,
    key: ({ task }) => [task.id, 'data' in task ? task.data : ''],
    words: taskWords,
  },
  {
    paths: /^model\./,
    key: ({ model }) => model.source,
    words: ({ model }) =>
      model.source === null ? 'a new model' : (model.source_name ?? 'own model'),
  },
  {
    paths: /^reward\./,
    key: ({ reward }) => reward.parts,
    words: ({ reward }) => (reward.parts.length > 0 ? 'own reward' : 'reward of the task'),
  },
  {
    paths: /^tools\b/,
    key: ({ tools }) => tools,
    words: ({ tools }) =>
      tools.length > 0 ? `tools ${tools.map(({ id }) => id).join(' and ')}` : 'no tools',
  },
  { paths: /^phases\./, key: kindsOf, words: phasesWords },
]

/** What is done by hand that trains something else, and no more or less of the same. */
const CHANGES_PHASES = /^(insert|interrupt|follow|append|remove)_phase$/

/** What a person would say first: what is trained how, then how long, then how it is looked at. */
const ORDER = [
  /^seed$/,
  /^actor.optim.lr$/,
  /^(actor|rollout|algorithm|critic|model)\./,
  /^phases\./,
]
const weightOf = (path: string): number => {
  const at = ORDER.findIndex((pattern) => pattern.test(path))
  return at < 0 ? ORDER.length : at
}

/** The paths in which two experiments differ, the seed first, without what nobody chose. */
export function differingPaths(experiment: Experiment, from: Experiment): string[] {
  const [now, before] = [leavesOf(experiment), leavesOf(from)]
  return unique(['seed', ...now.keys(), ...before.keys()])
    .filter((path) => !UNNAMED.test(path) && now.get(path) !== before.get(path))
    .sort((a, b) => weightOf(a) - weightOf(b))
}

/** What an experiment says otherwise than another one and what was done to it by hand, in words,
 * most important first. What its method says (methodWords) is not said again. */
export function differenceWords(experiment: Experiment, from: Experiment): string[] {
  const isOther = ({ key }: (typeof WHOLES)[number]) =>
    JSON.stringify(key(experiment)) !== JSON.stringify(key(from))
  const wholes = WHOLES.filter(isOther)
  // Rows of one's own come with a reward and tools of their own.
  const isOtherTask = wholes.includes(WHOLES[0])
  const said = wholes.filter(
    ({ paths }) => !(isOtherTask && /reward|tools/.test(paths.source) && 'data' in experiment.task),
  )
  const paths = differingPaths(experiment, from).filter(
    (path) => !IN_METHOD.test(path) && !wholes.some((whole) => whole.paths.test(path)),
  )
  const now = leavesOf(experiment)
  const done = (isSaid: (entry: SteeringEntry) => boolean) =>
    doneByHand(experiment.steering)
      .filter(isSaid)
      .map((entry) => doneWords(experiment, entry))
  return [
    ...said.map(({ words }) => words(experiment, from)),
    ...done(({ kind }) => CHANGES_PHASES.test(kind)),
    ...paths.map((path) => placedWords(now.has(path) ? experiment : from, path, now.get(path))),
    ...done(({ kind }) => kind === 'set'),
    ...done(({ kind }) => kind !== 'set' && !CHANGES_PHASES.test(kind)),
  ]
}
