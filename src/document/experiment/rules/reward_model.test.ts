import { describe, expect, test } from 'vitest'
import { experimentFields } from '../form/form.ts'
import { resolvePhases } from '../resolve.ts'
import { issues, parsed } from '../testing.ts'

describe('reward models', () => {
  const REWARDED = { kind: 'rl', reward_model: { enable: true } }
  const HUMAN = { kind: 'reward_model', pairs: { source: 'human' } }

  test('a phase has defaults, and its verdicts reach the engine as a list', () => {
    const [phase] = resolvePhases(
      parsed({ phases: [{ ...HUMAN, pairs: { source: 'human', verdicts: 'as3b' } }] }),
    )
    if (phase.kind !== 'reward_model') throw new Error('expected a reward model')
    expect(phase).toMatchObject({ name: 'reward model', steps: 100, batch_size: 32 })
    expect(phase.pairs).toEqual({
      source: 'human',
      count: 256,
      n: 2,
      held_out: 64,
      temperature: 1,
      min_pairs: 12,
      noise: 0,
      verdicts: [
        { choice: 'a', step: 0 },
        { choice: 'skip', step: 0 },
        { choice: 'b', step: 3 },
      ],
    })
    const [, rl] = resolvePhases(parsed({ phases: [{ kind: 'reward_model' }, REWARDED] }))
    expect(rl).toMatchObject({ reward_model: { enable: true } })
    expect(resolvePhases(parsed({}))[1]).toMatchObject({ reward_model: { enable: false } })
  })

  test('nobody is rewarded by a model that was not trained before', () => {
    for (const phases of [[REWARDED], [REWARDED, { kind: 'reward_model' }]])
      expect(issues({ phases })).toEqual([
        'phases.0.reward_model.enable: expected false, because no earlier phase of kind reward_model trains a reward model to score the responses; got true',
      ])
    expect(issues({ phases: [{ kind: 'reward_model' }, REWARDED, REWARDED] })).toEqual([])
    // The form does not offer what would be refused.
    const offers = (phases: object[], index: number) =>
      experimentFields(parsed({ phases })).find(
        ({ path }) => path === `phases.${index}.reward_model.enable`,
      )?.hasEffect
    expect(offers([{ kind: 'rl' }, { kind: 'reward_model' }, { kind: 'rl' }], 0)).toBe(false)
    expect(offers([{ kind: 'rl' }, { kind: 'reward_model' }, { kind: 'rl' }], 2)).toBe(true)
  })

  test('settings of pairs are refused with their reason, and shown where they matter', () => {
    const pairs = (change: object) => ({ phases: [{ kind: 'reward_model', pairs: change }] })
    expect(issues(pairs({ source: 'crowd' }))).toEqual([
      "phases.0.pairs.source: expected 'judge' or 'human' or 'mixed' or 'file', got 'crowd'",
    ])
    expect(issues(pairs({ source: 'human', count: 6, held_out: 2, min_pairs: 9 }))).toEqual([
      'phases.0.pairs.min_pairs: expected at most 8, because there are no more pairs to judge; got 9',
    ])
    expect(issues(pairs({ count: 6, held_out: 2, min_pairs: 9 }))).toEqual([])
    for (const verdicts of ['abc', '3', '5a3b'])
      expect(issues(pairs({ source: 'human', verdicts }))[0]).toMatch(
        /^phases.0.pairs.verdicts: expected letters a, b, s and u/,
      )
    for (const verdicts of ['ss', '3ab'])
      expect(issues(pairs({ source: 'human', verdicts }))[0]).toMatch(
        /^phases.0.pairs.verdicts: expected an a or b before the first number, because/,
      )
    for (const verdicts of ['au', 'asb2uuu', 'ab2uu5a'])
      expect(issues(pairs({ source: 'human', verdicts }))[0]).toMatch(
        /^phases.0.pairs.verdicts: expected an a or b to stay in force, because training needs .* after step [02] of/,
      )
    for (const verdicts of ['ab2uub', 'ab2u'])
      expect(issues(pairs({ source: 'human', verdicts }))).toEqual([])
    expect(issues(pairs({ source: 'mixed', verdicts: '3ab' }))).toEqual([])
    const shown = (source: string) =>
      experimentFields(parsed(pairs({ source })))
        .filter(({ path, hasEffect }) => /min_pairs|verdicts/.test(path) && hasEffect)
        .map(({ path }) => path.replace('phases.0.pairs.', ''))
    expect(shown('judge')).toEqual([])
    expect(shown('human')).toEqual(['min_pairs', 'verdicts'])
    expect(shown('mixed')).toEqual(['verdicts'])
  })

  test('as in verl, a reward model’s score knows no overlong penalty', () => {
    const phases = [{ kind: 'reward_model' }, REWARDED]
    const buffer = ({ path }: { path: string }) => path === 'algorithm.overlong_buffer.len'
    expect(experimentFields(parsed({ phases })).find(buffer)?.hasEffect).toBe(false)
    expect(experimentFields(parsed({})).find(buffer)?.hasEffect).toBe(true)
  })
})
