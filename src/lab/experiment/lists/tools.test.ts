// The tools of a document: a list, a choice in the form, a word in a link, and the rules about turns.
import { expect, test } from 'vitest'
import { decodeLink, encodeLink } from '../../links/link.ts'
import { PRESETS } from '../../presets/presets.ts'
import { withField } from '../experiment.ts'
import { experimentFields } from '../form/form.ts'
import { issues, parsed } from '../testing.ts'
import { trainerConfig } from '../trainer_config.ts'

const TALKS = {
  task: { id: 'calculator_products' },
  tools: [{ id: 'calculator' }],
  phases: [{ kind: 'rl' }],
  rollout: { max_turns: 3 },
}

test('a document lists its tools, and the trainer gets them', () => {
  const { tools = [] } = trainerConfig(parsed(TALKS))
  expect(tools.map(({ schema }) => schema.function.name)).toEqual(['calculator'])
  expect(trainerConfig(parsed({})).tools).toBeUndefined()
  expect(parsed({ ...TALKS, tools: 'calculator,lookup' }).tools).toEqual([
    { id: 'calculator' },
    { id: 'lookup' },
  ])
})

test('a list of anything else is refused by a sentence', () => {
  for (const tools of [
    3,
    'search',
    [{ id: 'search' }],
    [{ id: 'lookup' }, { id: 'lookup' }],
    [{ id: 'lookup', x: 1 }],
    [null],
  ])
    expect(issues({ ...TALKS, tools })[0]).toMatch(
      /^tools: expected a list of different tools, each as \{id\} with id 'calculator' or 'lookup'/,
    )
})

test('turns need a tool, and its calls need characters', () => {
  expect(issues({ ...TALKS, tools: [] })[0]).toMatch(
    /^rollout.max_turns: expected 1, because .* no tools/,
  )
  const letters = { ...TALKS, task: { id: 'spell_backward' } }
  expect(issues(letters)[0]).toMatch(/^tools: expected tools whose calls .* has no \[/)
  expect(issues({ ...letters, rollout: { max_turns: 1 } })).toEqual([])
})

test('a link carries tools and turns', () => {
  const experiment = parsed(TALKS)
  const link = encodeLink(experiment)
  expect(link).toContain('tools=calculator')
  const decoded = decodeLink(link)
  expect(decoded.notices).toEqual([])
  expect(decoded.experiment).toEqual(experiment)
  expect(encodeLink(PRESETS[0].experiment)).not.toContain('tools')
})

test('a form sets them by one choice, and shows what turns change where there are any', () => {
  const set = withField(parsed({ task: TALKS.task }), 'tools', 'calculator')
  expect(set.ok && set.experiment.tools).toEqual([{ id: 'calculator' }])
  const shown = (document: object) =>
    experimentFields(parsed(document))
      .filter(
        ({ path, has_effect }) => has_effect && /^rollout.*(tool_response|parallel)/.test(path),
      )
      .map(({ path }) => path)
  expect(shown(TALKS)).toHaveLength(3)
  expect(shown({ ...TALKS, rollout: { max_turns: 1 } })).toEqual([])
})
