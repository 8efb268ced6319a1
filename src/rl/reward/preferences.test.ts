import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Pairs, Verdict } from '../config/phase.ts'
import type { ResponsePair } from './pairs.ts'
import { Preferences } from './preferences.ts'

const NO_IDS = new Uint32Array()
const row = { input_ids: NO_IDS, attention_mask: NO_IDS, position_ids: NO_IDS }
const pair = (name: string, a = 1, b = 0): ResponsePair => ({
  prompt: name,
  a: { row, text: `${name}a`, is_ended: true, score: a },
  b: { row, text: `${name}b`, is_ended: true, score: b },
})
const pairs = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, i) => pair(`${prefix}${i}`))
const HUMAN: Pairs = {
  source: 'human',
  count: 12,
  held_out: 2,
  temperature: 1,
  min_pairs: 3,
  verdicts: [],
}
const human = (change: Partial<Pairs> = {}, asked = pairs(12, 'h')) =>
  new Preferences({ ...HUMAN, ...change }, 7, { judged: [], asked, ties: 0 })
const names = (list: readonly { prompt: string }[]) => list.map(({ prompt }) => prompt)

describe('the task as judge', () => {
  const config: Pairs = { ...HUMAN, source: 'judge', count: 6, held_out: 2 }

  test('prefers the higher score; the last pairs are held out', () => {
    const judged = [pair('0'), pair('1', 0, 1), ...pairs(6, 'j')]
    const p = new Preferences(config, 7, { judged, asked: [], ties: 5 })
    expect(p.isReady(0)).toBe(true)
    expect(p.training[0].chosen.text).toBe('0a')
    expect(p.training[1].chosen.text).toBe('1b')
    expect(names(p.held_out)).toEqual(['j4', 'j5'])
    expect(names(p.training)).toHaveLength(6)
    expect(p.ties).toBe(5)
    expect(p.decide(0, 'a', 0)).toBe(false)
  })

  test('a share of the verdicts on training pairs is turned round, the same ones every time', () => {
    const many = { ...config, count: 400, held_out: 40, noise: 0.25 }
    const drawn = { judged: pairs(440, 'j'), asked: [], ties: 0 }
    const isWrong = ({ chosen }: { chosen: { score: number } }) => chosen.score === 0
    const p = new Preferences(many, 7, drawn)
    const wrong = p.training.filter(isWrong).length
    // A fifth to three tenths: two standard deviations are 17 pairs.
    expect([wrong > 80, wrong < 120]).toEqual([true, true])
    expect(p.held_out.some(isWrong)).toBe(false)
    const again = Preferences.resume(many, 7, p.exportState())
    expect(again.training).toEqual(p.training)
    expect(new Preferences(many, 8, drawn).training).not.toEqual(p.training)
    const { noise: _, ...sure } = many
    expect(new Preferences(sure, 7, drawn).training.some(isWrong)).toBe(false)
  })

  test('fewer pairs than asked for are shared out alike', () => {
    const p = new Preferences(config, 7, { judged: pairs(4, 'j'), asked: [], ties: 0 })
    expect([p.training.length, p.held_out.length]).toEqual([3, 1])
  })

  test('new pairs are trained on in place of the old ones, never those of held-out prompts', () => {
    const first = new Preferences(config, 7, { judged: pairs(8, 'j'), asked: [], ties: 0 })
    expect(first.isUsed).toBe(false)
    first.nextBatch(2)
    expect(first.isUsed).toBe(true)
    const fresh = [...pairs(5, 'n'), pair('j7', 0, 1)]
    const next = first.refreshed({ pairs: fresh, ties: 3 })
    expect([next.isUsed, next.ties]).toEqual([false, 3])
    expect(names(next.training)).toEqual(['n0', 'n1', 'n2', 'n3', 'n4'])
    expect(names(next.held_out)).toEqual(['j6', 'j7'])
    const moved = Preferences.resume(config, 7, next.exportState())
    expect([moved.training, moved.held_out]).toEqual([next.training, next.held_out])
    // Nothing but ties: the old ones stay.
    expect(names(first.refreshed({ pairs: [], ties: 9 }).training)).toEqual(names(first.training))
  })
})

describe('a person', () => {
  test('is asked in order, and training waits for enough', () => {
    const p = human()
    expect(p.pending[0]).toEqual({ id: 0, prompt: 'h0', response_a: 'h0a', response_b: 'h0b' })
    expect(p.decide(1, 'a', 0)).toBe(false)
    expect(p.decide(0, 'b', 0)).toBe(true)
    expect(p.decide(0, 'a', 0)).toBe(false)
    expect(p.decide(1, 'skip', 0)).toBe(true)
    expect(p.training.map(({ chosen, rejected }) => [chosen.text, rejected.text])).toEqual([
      ['h0b', 'h0a'],
    ])
    expect([p.given, p.isReady(0), p.pending[0].id]).toEqual([1, false, 2])
    p.decide(2, 'a', 0)
    expect(p.isReady(0)).toBe(false)
    p.decide(3, 'a', 0)
    expect(p.isReady(0)).toBe(true)
  })

  test('when there are no more pairs, what there is has to do', () => {
    const p = human({ min_pairs: 5 }, pairs(2, 'h'))
    p.decide(0, 'a', 0)
    expect(p.isReady(0)).toBe(false)
    p.decide(1, 'skip', 0)
    expect(p.isReady(0)).toBe(true)
    const none = human({}, pairs(1, 'h'))
    none.decide(0, 'skip', 0)
    expect(none.isReady(0)).toBe(false)
  })

  test('every fourth preference is held out, skipped pairs not counted, up to the number asked for', () => {
    const p = human({}, pairs(14, 'h'))
    for (let id = 0; id < 14; id++) p.decide(id, id === 1 ? 'skip' : 'a', 0)
    expect(names(p.held_out)).toEqual(['h4', 'h8'])
    expect(p.training).toHaveLength(11)
  })

  test('undo before a step leaves no trace, after one it is written down', () => {
    const p = human()
    expect(p.undo(0)).toBe(false)
    p.decide(0, 'a', 0)
    p.decide(1, 'skip', 0)
    expect(p.undo(0)).toBe(true)
    expect(p.log).toEqual([{ choice: 'a', step: 0 }])
    expect(p.pending[0].id).toBe(1)
    expect(p.undo(2)).toBe(true)
    expect(p.undo(2)).toBe(false)
    p.decide(0, 'b', 2)
    expect(p.undo(2)).toBe(true)
    expect(p.log).toEqual([
      { choice: 'a', step: 0 },
      { choice: 'undo', step: 2 },
    ])
    expect(p.training).toEqual([])
  })

  test('mixed: the task’s pairs at once, a person’s beside them, held out are the task’s', () => {
    const config: Pairs = { ...HUMAN, source: 'mixed', count: 3, held_out: 1 }
    const drawn = { judged: pairs(4, 'j'), asked: pairs(6, 'h'), ties: 0 }
    const p = new Preferences(config, 7, drawn)
    expect(p.isReady(0)).toBe(true)
    for (let id = 0; id < 5; id++) p.decide(id, 'a', 1)
    expect(names(p.training)).toEqual(['j0', 'j1', 'j2', 'h0', 'h1', 'h2', 'h3', 'h4'])
    expect(names(p.held_out)).toEqual(['j3'])
  })
})

describe('no prompt is in training and held out', () => {
  /** Pairs with few prompts, so that most of them repeat. */
  const repeated = fc
    .array(fc.integer({ min: 0, max: 7 }), { minLength: 1, maxLength: 40 })
    .map((prompts) => prompts.map((prompt) => pair(`p${prompt}`)))
  const settings = fc.record({
    source: fc.constantFrom<Pairs['source'][]>('judge', 'human', 'mixed'),
    count: fc.integer({ min: 1, max: 30 }),
    held_out: fc.integer({ min: 0, max: 10 }),
  })
  const spoken = fc.array(fc.constantFrom('a', 'a', 'b', 'skip', 'undo' as const), {
    maxLength: 40,
  })

  test('no matter who judges and what is skipped or taken back', () => {
    fc.assert(
      fc.property(settings, repeated, repeated, spoken, (change, first, second, said) => {
        const config: Pairs = { ...HUMAN, ...change }
        const { source, count, held_out } = config
        const judged = source === 'human' ? [] : first.slice(0, count + held_out)
        const asked = source === 'judge' ? [] : second
        const p = new Preferences(config, 7, { judged, asked, ties: 0 })
        for (const choice of ['none', ...said]) {
          if (choice === 'undo') p.undo(0)
          else if (choice !== 'none') p.decide(p.pending[0]?.id, choice as 'a' | 'b' | 'skip', 0)
          const trained = new Set(names(p.training))
          expect(names(p.held_out).filter((prompt) => trained.has(prompt))).toEqual([])
          expect(p.held_out.length).toBeLessThanOrEqual(held_out)
          expect(trained.size > 0).toBe(judged.length > 0 || p.given > 0)
        }
        const share = Math.floor((judged.length * held_out) / (count + held_out))
        const isPossible = share > 0 && new Set(names(judged)).size > 1
        if (source === 'judge') expect(p.held_out.length > 0).toBe(isPossible)
      }),
      { numRuns: 200 },
    )
  })

  test('of eighty problems drawn again and again whole prompts are held out, as many pairs as were asked for', () => {
    // Every problem four times, in another order each round.
    const judged = Array.from({ length: 320 }, (_, i) =>
      pair(`${(7 * i + 3 * Math.floor(i / 80)) % 80}`),
    )
    const config: Pairs = { ...HUMAN, source: 'judge', count: 256, held_out: 64 }
    const p = new Preferences(config, 7, { judged, asked: [], ties: 0 })
    const trained = new Set(names(p.training))
    const held_out = new Set(names(p.held_out))
    expect(p.held_out.length).toBeGreaterThan(55)
    expect(held_out.size).toBeGreaterThan(8)
    expect(trained.size + held_out.size).toBe(new Set(names(judged)).size)
    expect([...held_out].filter((prompt) => trained.has(prompt))).toEqual([])
  })

  test('a person’s second verdict on a prompt goes where the first one went', () => {
    const asked = ['x', 'x', 'y', 'z', 'held', 'x', 'held', 'w', 'held'].map((name) => pair(name))
    const p = human({ held_out: 2 }, asked)
    asked.forEach((_, id) => {
      p.decide(id, 'a', 0)
    })
    expect(names(p.training)).toEqual(['x', 'x', 'y', 'z', 'x', 'w'])
    expect(names(p.held_out)).toEqual(['held', 'held'])
  })
})

describe('batches', () => {
  test('a pass takes every pair once, in another order each time, the same for the same seed', () => {
    const drawn = { judged: pairs(8, 'j'), asked: [], ties: 0 }
    const config: Pairs = { ...HUMAN, source: 'judge', count: 8, held_out: 0 }
    const passes = (seed: number) => {
      const p = new Preferences(config, seed, drawn)
      return Array.from({ length: 4 }, () => names(p.nextBatch(4)))
    }
    const [a, b, c, d] = passes(1)
    expect([...a, ...b].sort()).toEqual(names(drawn.judged))
    expect([...c, ...d].sort()).toEqual(names(drawn.judged))
    expect([...c, ...d]).not.toEqual([...a, ...b])
    expect(passes(1)).toEqual([a, b, c, d])
    expect(passes(2)).not.toEqual([a, b, c, d])
  })

  test('a set smaller than a batch is gone through again; what was withdrawn is gone', () => {
    const p = human({ held_out: 0 })
    expect(() => p.nextBatch(1)).toThrow(/expected a pair to train on/)
    p.decide(0, 'a', 0)
    p.decide(1, 'b', 0)
    expect(names(p.nextBatch(3)).sort()).toHaveLength(3)
    p.undo(1)
    expect(new Set(names(p.nextBatch(5)))).toEqual(new Set(['h0']))
  })
})

test('recorded verdicts repeat the batches of the run that they are from, and nobody is asked', () => {
  const live = human()
  const say: [number, () => void][] = [
    [
      0,
      () => {
        for (const id of [0, 1, 2, 3]) live.decide(id, id % 2 ? 'a' : 'b', 0)
      },
    ],
    [2, () => live.decide(4, 'skip', 2)],
    [2, () => live.decide(5, 'a', 2)],
    [3, () => live.undo(3)],
    [3, () => live.decide(5, 'b', 3)],
  ]
  const taken: string[][] = []
  const take = (p: Preferences) =>
    p.nextBatch(3).map(({ chosen, rejected }) => `${chosen.text}>${rejected.text}`)
  for (let step = 0; step < 6; step++) {
    for (const [at, speak] of say) if (at === step) speak()
    expect(live.isReady(step)).toBe(true)
    taken.push(take(live))
  }
  const verdicts: readonly Verdict[] = live.log
  expect(verdicts).toHaveLength(8)
  const again = human({ verdicts })
  expect(again.pending).toEqual([])
  for (let step = 0; step < 6; step++) {
    expect(again.isReady(step)).toBe(true)
    expect(take(again), `step ${step}`).toEqual(taken[step])
  }
  expect(again.log).toEqual(verdicts)
  expect(again.decide(6, 'a', 6)).toBe(false)
  expect(again.undo(6)).toBe(false)
})

describe('moved to another place', () => {
  const mixed: Pairs = { ...HUMAN, source: 'mixed', count: 4, held_out: 2 }
  const begin = () =>
    new Preferences(mixed, 7, { judged: pairs(6, 'j'), asked: pairs(5, 'h'), ties: 2 })
  const texts = (p: Preferences, count: number) =>
    p.nextBatch(count).map(({ chosen }) => chosen.text)

  test('in the middle of a pass, with verdicts and verdicts taken back, it continues the same', () => {
    let whole: string[] | undefined
    for (const move of [false, true]) {
      let p = begin()
      const moveOn = () => {
        if (move) p = Preferences.resume(mixed, 7, structuredClone(p.exportState()))
      }
      p.decide(0, 'a', 0)
      p.decide(1, 'b', 0)
      const seen = texts(p, 3)
      moveOn()
      p.undo(1)
      moveOn()
      p.decide(1, 'skip', 1)
      p.decide(2, 'b', 1)
      moveOn()
      seen.push(...texts(p, 9))
      moveOn()
      seen.push(...texts(p, 2))
      whole ??= seen
      expect(seen).toEqual(whole)
      expect(p.log.map(({ choice }) => choice)).toEqual(['a', 'b', 'undo', 'skip', 'b'])
      expect([p.given, p.ties, p.pending.length]).toEqual([2, 2, 2])
    }
  })

  test('recorded verdicts that are in force are not given again', () => {
    const verdicts: Verdict[] = [
      { choice: 'a', step: 0 },
      { choice: 'b', step: 2 },
    ]
    const config = { ...mixed, verdicts }
    const p = new Preferences(config, 7, { judged: [], asked: pairs(5, 'h'), ties: 0 })
    expect(p.isReady(0)).toBe(true)
    const moved = Preferences.resume(config, 7, p.exportState())
    expect([moved.isReady(1), moved.given]).toEqual([true, 1])
    expect([moved.isReady(2), moved.given]).toEqual([true, 2])
    expect(moved.exportState().decided).toEqual(['a', 'b'])
  })
})
