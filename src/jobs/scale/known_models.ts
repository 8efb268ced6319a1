// Lists models that a job is often scaled up to. Architecture and layers are those of each model's
// config.json on huggingface.co, as Lightning-AI/litgpt repeats them (litgpt/config.py at 0006c97,
// which names every source); parameters are counted from the same sizes.

export interface KnownModel {
  /** On huggingface.co. */
  readonly name: string
  /** Architecture: BuPO's fork reads inner layers of qwen3 and llama alone. */
  readonly model_type: 'qwen2' | 'qwen3' | 'llama'
  /** In thousands of millions. */
  readonly parameters: number
  readonly num_hidden_layers: number
}

const model = (
  name: string,
  model_type: KnownModel['model_type'],
  parameters: number,
  num_hidden_layers: number,
): KnownModel => ({ name, model_type, parameters, num_hidden_layers })

export const KNOWN_MODELS: readonly KnownModel[] = [
  model('Qwen/Qwen3-0.6B', 'qwen3', 0.6, 28),
  model('Qwen/Qwen3-1.7B', 'qwen3', 1.7, 28),
  model('Qwen/Qwen3-4B', 'qwen3', 4, 36),
  model('Qwen/Qwen3-8B', 'qwen3', 8.2, 36),
  model('Qwen/Qwen3-14B', 'qwen3', 14.8, 40),
  model('Qwen/Qwen2.5-0.5B-Instruct', 'qwen2', 0.5, 24),
  model('Qwen/Qwen2.5-1.5B-Instruct', 'qwen2', 1.5, 28),
  model('Qwen/Qwen2.5-7B-Instruct', 'qwen2', 7.6, 28),
  model('meta-llama/Llama-3.2-1B-Instruct', 'llama', 1.2, 16),
  model('meta-llama/Llama-3.2-3B-Instruct', 'llama', 3.2, 28),
]

export const knownModel = (name: string): KnownModel | undefined =>
  KNOWN_MODELS.find((known) => known.name.toLowerCase() === name.trim().toLowerCase())

/** Thousands of millions of parameters, from the table or from a name such as org/Model-7B;
 * undefined where neither says. */
export function parametersOf(name: string): number | undefined {
  const known = knownModel(name)
  if (known) return known.parameters
  const [, count, unit] = /(?:^|[^\w.])(\d+(?:\.\d+)?)([BM])(?![a-z])/i.exec(name) ?? []
  if (count === undefined) return undefined
  return unit.toUpperCase() === 'M' ? Number(count) / 1000 : Number(count)
}
