// Reads what verl and PEFT write as null, as a list, or as a number where an experiment has text.
import { type Document, isDocument } from '../fields/paths.ts'

const off =
  (instead: unknown) =>
  (value: unknown): unknown =>
    value === null ? instead : value

/** verl's rollout_is_threshold `lower_upper` (IcePop) are two fields here; a number written as text
 * is that number. */
function icepop(value: unknown): unknown {
  if (!isDocument(value) || typeof value.rollout_is_threshold !== 'string') return value
  const bounds = value.rollout_is_threshold.split('_').map(Number)
  if (bounds.length > 2 || bounds.some((bound) => !(bound > 0))) return value
  const [lower, upper] = bounds.length === 2 ? bounds : [null, bounds[0]]
  return { ...value, rollout_is_threshold: upper, rollout_is_threshold_lower: lower }
}

/** A list as text with commas. */
const joined = (value: unknown): unknown => {
  if (typeof value === 'number') return `${value}`
  return Array.isArray(value) ? value.join() : value
}

/** What verl writes otherwise, by its path: a section as null, a list, or a number where text is
 * kept. */
const VERL_WORDS: readonly (readonly [path: string, read: (value: unknown) => unknown])[] = [
  ['algorithm.overlong_buffer', off({ len: null })],
  ['algorithm.filter_groups', off({})],
  ['algorithm.filter_groups.metric', off('acc')],
  ['algorithm.rollout_correction', icepop],
  ['freeze.layers', (value) => joined(value)],
  ['model.lora', off({})],
  ['model.lora.target_modules', (value) => joined(value)],
  ['model.lora.layers_to_transform', (value) => joined(value)],
  [
    'algorithm.rollout_correction.rollout_rs_threshold',
    (value) => (typeof value === 'number' ? `${value}` : value),
  ],
]

/** The node with the value at a path below it read; the same node where nothing changes. */
function readAt(
  node: unknown,
  [name, ...below]: readonly string[],
  read: (value: unknown) => unknown,
): unknown {
  if (!isDocument(node) || !Object.hasOwn(node, name)) return node
  const value = below.length > 0 ? readAt(node[name], below, read) : read(node[name])
  return value === node[name] ? node : { ...node, [name]: value }
}

/** verl's null in an experiment and in its phases becomes our word for it. */
export function withoutNulls(document: Document): Document {
  const plain = (node: unknown): unknown =>
    VERL_WORDS.reduce((rest, [path, read]) => readAt(rest, path.split('.'), read), node)
  const readPhases = (phases: unknown) => (Array.isArray(phases) ? phases.map(plain) : phases)
  return readAt(plain(document), ['phases'], readPhases) as Document
}
