// The tools of a document: a list, a choice in the form, a word in a link, and the rules about
// turns.
import { expect, test } from 'vitest'
import { loadContents } from '../../../host/content/load.ts'
import { contentNames } from '../../../host/content/named.ts'
import { contentHash } from '../../content/content.ts'
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

// Of a file that no other test loads: what is loaded stays.
const code = `sha256-${'7001'.repeat(16)}`
const program = { id: 'program', code, name: 'meine, Würfel.py' }

test('a program is named by its hash, in documents, links and forms', () => {
  const experiment = parsed({ ...TALKS, tools: [{ id: 'calculator' }, program] })
  const decoded = decodeLink(encodeLink(experiment))
  expect(decoded).toMatchObject({ experiment, notices: [] })
  expect(contentNames(experiment)).toEqual([{ hash: code, name: program.name }])
  const field = experimentFields(experiment).find(({ path }) => path === 'tools')
  expect(field?.options?.at(-1)).toEqual({
    value: field?.value,
    label: 'calculator and meine, Würfel.py',
  })
  for (const wrong of [
    { ...program, code: 'sha256-1' },
    { id: 'program' },
    { ...program, name: '' },
    { ...program, x: 1 },
    { ...program, id: 'calculator' },
  ])
    expect(issues({ ...TALKS, tools: [wrong] })[0]).toMatch(/^tools: expected a list/)
  expect(issues({ ...TALKS, tools: [program, program] })[0]).toMatch(/^tools: expected a list/)
  expect(issues({ ...TALKS, tools: `program:${code}:%E0` })[0]).toMatch(/^tools: expected a list/)
})

test('the file of a tool is read when it is there, and refused before a run where it is none', async () => {
  const bytes = new TextEncoder().encode('def execute(parameters): return ""')
  const hash = await contentHash(bytes)
  const experiment = parsed({ ...TALKS, tools: [{ ...program, code: hash }] })
  await expect(loadContents(experiment, [{ hash, name: 'x.py', bytes }])).rejects.toThrow(
    'expected a tool that says tool_schema',
  )
  expect(issues(experiment)[0]).toMatch(/^tools: .*expected a tool that says tool_schema/)
})

test('a form sets them by one choice, and shows what turns change where there are any', () => {
  const set = withField(parsed({ task: TALKS.task }), 'tools', 'calculator')
  expect(set.ok && set.experiment.tools).toEqual([{ id: 'calculator' }])
  const shown = (document: object) =>
    experimentFields(parsed(document))
      .filter(({ path, hasEffect }) => hasEffect && /^rollout.*(tool_response|parallel)/.test(path))
      .map(({ path }) => path)
  expect(shown(TALKS)).toHaveLength(3)
  expect(shown({ ...TALKS, rollout: { max_turns: 1 } })).toEqual([])
})
