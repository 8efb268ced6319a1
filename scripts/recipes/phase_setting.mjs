// Follows the recipe "Add a setting" for what each phase of reinforcement has of its own: its
// declaration, and the place that uses it. No other file is touched.
import { expect } from 'vitest'

export const phaseSetting = {
  name: 'a setting of a phase',
  edits: [
    {
      file: 'src/rl/config/trained_fields.ts',
      after: 'export interface TrainedFields {',
      text: '  /** Responses above their group add nothing. */\n  readonly only_losses: boolean',
    },
    {
      file: 'src/rl/config/trained_fields.ts',
      after: 'export const trainedFields = (mostLayers: number): Tree<TrainedFields> => ({',
      text: `  only_losses: boolean({
    label: 'Learn from losses alone',
    help: 'Whether responses with an advantage above 0 are left out of the update.',
    default: false,
    elsewhere: { refused: 'it learns from all responses' },
  }),`,
    },
    {
      file: 'src/rl/experience/experience.ts',
      after: "type DriverPhase = Pick<RlPhase, 'adv_estimator' | 'algorithm'> & {",
      text: "  readonly only_losses?: RlPhase['only_losses']",
    },
    {
      file: 'src/rl/experience/experience.ts',
      after: '    : estimated',
      text: `  if (phase.only_losses)
    for (const [i, advantage] of advantages.entries()) advantages[i] = Math.min(0, advantage)`,
    },
  ],
  checks: {
    'the form, documents, links and the engine have it': document,
    'the place that uses it has its value': use,
  },
}

async function document(load) {
  const { parseExperiment } = await load('document/experiment/experiment.ts')
  const { experimentFields } = await load('document/experiment/form/form.ts')
  const { resolvePhases } = await load('document/experiment/resolve.ts')
  const { decodeLink, encodeLink } = await load('document/links/link.ts')
  const { experiment, issues = [] } = parseExperiment({
    phases: [{ kind: 'rl', only_losses: true }, { kind: 'rl' }],
  })
  expect(issues).toEqual([])
  const fields = experimentFields(experiment).filter(({ path }) => path.endsWith('.only_losses'))
  expect(fields.map(({ path, value }) => [path, value])).toEqual([
    ['phases.0.only_losses', true],
    ['phases.1.only_losses', false],
  ])
  expect(decodeLink(encodeLink(experiment)).experiment).toEqual(experiment)
  expect(resolvePhases(experiment).map(({ only_losses }) => only_losses)).toEqual([true, false])
}

async function use(load) {
  const { makeExperience } = await load('rl/experience/experience.ts')
  const { klController } = await load('rl/experience/kl.ts')
  const { RL } = await load('rl/testing.ts')
  const batch = {
    response_length: 1,
    index: [0, 0],
    response_mask: [1, 1],
    token_level_scores: [0, 1],
  }
  const advantages = (only_losses) =>
    Array.from(
      makeExperience({ ...RL, only_losses }, batch, klController(RL.algorithm.kl_ctrl)).advantages,
    )
  expect(advantages(false)[1]).toBeGreaterThan(0.7)
  expect(advantages(true)[1]).toBe(0)
  expect(advantages(true)[0]).toBeLessThan(-0.7)
}
