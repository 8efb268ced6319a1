// Checks Hugging Face model folders: config.json, model.safetensors and expected.safetensors, with
// critic and reward models.
import type { Context } from './base/fixture.ts'
import type { Check } from './base/report.ts'
import { criticChecks } from './hf/critic_cases.ts'
import { configChecks, forwardChecks } from './hf/forward_cases.ts'
import { generationChecks } from './hf/generation_cases.ts'
import { gradientChecks } from './hf/gradient_cases.ts'
import { loraChecks } from './hf/lora_cases.ts'
import { openModelCase } from './hf/model_case.ts'
import { rewardChecks } from './hf/reward_cases.ts'
import { trajectoryChecks } from './hf/trajectory_cases.ts'

const SECTIONS = {
  forward: forwardChecks,
  gradients: gradientChecks,
  critic: criticChecks,
  'reward model': rewardChecks,
  generation: generationChecks,
  adapter: loraChecks,
  trajectories: trajectoryChecks,
}

/** The checks of one model folder. What cannot be run and arrays that nothing computes are failed
 * checks. */
export async function* hfCase(folder: string, { gpu, ...pinned }: Context): AsyncGenerator<Check> {
  const c = await openModelCase(folder, pinned)
  yield* configChecks(c)
  for (const [section, checks] of Object.entries(SECTIONS))
    try {
      yield* checks(c, gpu)
    } catch (error) {
      const problem = error instanceof Error ? `${error.name}: ${error.message}` : `${error}`
      const failed = { actual: problem, expected: 'no error', tolerance: 'exact' } as const
      yield { case: `${c.name}/${section}`, on: 'driver', outputs: { [section]: failed } }
    }
  const nothing = { actual: undefined, expected: 'a computation', tolerance: 'exact' } as const
  const outputs = Object.fromEntries(c.expected.unread().map((name) => [name, nothing]))
  yield { case: `${c.name}/unknown arrays`, on: 'driver', outputs }
}
