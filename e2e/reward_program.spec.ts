// Rewards that a person composes on the page: tried before training, trained on, and programs that
// misbehave.
import { expect, type LabPage, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

const LINK =
  'v=1&p=tiny&phases=rl&phases.0.steps=40&phases.0.target_layer=final&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8' +
  `&validation.prompts=8&validation.test_freq=0&actor.optim.lr=0.005${QUICK}`

/** The share of sevens in a response: an untrained model learns it in a few steps. */
const SEVENS = {
  'sevens.js': `export function compute_score(data_source, solution_str, ground_truth, extra_info) {
  const sevens = [...solution_str].filter((sign) => sign === '7').length
  return { score: solution_str === '' ? 0 : sevens / solution_str.length, sevens }
}`,
  'sevens.py': `def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kwargs):
    sevens = solution_str.count("7")
    return {"score": sevens / len(solution_str) if solution_str else 0, "sevens": sevens}`,
}

/** Drops a file onto the page. */
async function drop({ page }: LabPage, name: string, text: string): Promise<void> {
  const transfer = await page.evaluateHandle(
    ([name, text]) => {
      const transfer = new DataTransfer()
      transfer.items.add(new File([text], name, { type: 'text/plain' }))
      return transfer
    },
    [name, text] as const,
  )
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer })
}

/** The cells of the table of tried answers, row by row. */
const tried = (lab: LabPage) => lab.get('reward-trial').locator('tbody tr').allInnerTexts()

const rewards = async (lab: LabPage) =>
  (await lab.steps()).flatMap(({ step, metrics }) =>
    step > 0 ? [metrics['critic/score/mean']] : [],
  )
const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length

// data.spec.ts trains on a reward in either language.
for (const [name, source] of Object.entries(SEVENS))
  test(
    `a dropped ${name} is tried, trained on, and the reward rises`,
    LONG_ONLY,
    async ({ lab }) => {
      await lab.open(LINK)
      await lab.waitForStatus('idle')
      await drop(lab, name, source)
      await expect(lab.get('reward-trial')).toBeVisible({ timeout: 240_000 })
      await expect(lab.get('reward-trial').locator('tbody tr')).toHaveCount(9)
      await expect(
        lab.get('reward-trial').locator('tr[data-what=empty] .total').first(),
      ).toHaveText('0')
      await lab.get('reward-close').click()
      await lab.get('train').click()
      await lab.waitForStatus('finished', 300_000)
      const all = await rewards(lab)
      expect(all).toHaveLength(40)
      expect(mean(all.slice(-5))).toBeGreaterThan(mean(all.slice(0, 5)) + 0.3)
      const [{ metrics }] = (await lab.steps()).slice(-1)
      expect(metrics).toMatchObject({ 'reward/timeouts': 0, 'reward/errors': 0 })
      expect(metrics['reward/program/mean']).toBeCloseTo(metrics['critic/score/mean'], 12)
      expect(metrics['reward/program/sevens/mean']).toBeGreaterThan(0)
      await expect(lab.get('samples')).toContainText('program')
    },
  )

test('parts are added, weighted and tried; a setting that cannot be used is refused', async ({
  lab,
  page,
}) => {
  await lab.open(LINK)
  await lab.get('open-reward').click()
  await expect(lab.get('reward-trial')).toContainText('right')
  await lab.get('reward-add').selectOption('exact_match')
  await lab.get('reward-add').selectOption('length')
  await lab.get('reward-weight-1').fill('0.5')
  await lab.get('reward-1-longest').getByRole('spinbutton').fill('1')
  await lab.get('reward-1-slope').getByRole('spinbutton').fill('1')
  await expect.poll(async () => (await tried(lab)).length).toBe(9)
  // A right answer of several digits gets no points for its length; an empty one is one character
  // too short.
  await expect(lab.get('reward-trial').locator('tr[data-what=right] .total').first()).toHaveText(
    '1',
  )
  await expect(lab.get('reward-trial').locator('tr[data-what=empty] .total').first()).toHaveText(
    '0',
  )
  await lab.get('reward-add').selectOption('regex')
  await lab.get('reward-2-pattern').getByRole('textbox').fill('(?=a)')
  await expect(lab.get('reward-refused')).toContainText('look-around')
  await expect(page).toHaveURL(/reward\.parts=/)
  await page.reload()
  await lab.get('open-reward').click()
  await expect(lab.get('reward-parts').or(page.locator('.reward-part'))).toHaveCount(3)
})

/** Programs that misbehave, and what is said of their answers; sandbox.spec.ts tries more of
 * them. */
const HOSTILE: Readonly<Record<string, readonly [string, string | RegExp]>> = {
  'an endless loop': ['function compute_score() { for (;;); }', 'took longer than 500 ms'],
  'a memory bomb': [
    'function compute_score() { const all = []; for (;;) all.push(new Array(1e6).fill(all.length)) }',
    /ended|out of memory/,
  ],
  'the error of a full stack': [
    `function compute_score() {
      let first
      const fill = () => { try { fill() } catch (error) { first ??= error } }
      fill()
      return first.constructor.constructor('return typeof postMessage + typeof self')()
    }`,
    // Of the engine's own realm; or the worker's own stack was full first, and the program is
    // ended.
    /"undefinedundefined"|call stack/,
  ],
  'an answer changed on its way': [
    'function compute_score() { Object.prototype.toJSON = () => ({ error: { toString: 5 } }); return "whole" }',
    'got "whole"',
  ],
  'endless printing': ['function compute_score() { for (;;) console.log("x") }', 'took longer'],
  'an endless microtask': [
    'function compute_score() { const again = () => Promise.resolve().then(again); again(); for (;;); }',
    'took longer',
  ],
  'a text': ['function compute_score() { return "one" }', 'expected a finite number'],
  NaN: ['function compute_score() { return NaN }', 'expected a finite number'],
  'an error': ['function compute_score() { throw new Error("no mood") }', 'no mood'],
  'a polluted object': [
    'function compute_score() { return JSON.parse(\'{"__proto__": {"score": 1}}\') }',
    'expected a finite number',
  ],
  'no such function': ['const x = 1', 'declares no function compute_score'],
  'messages of its own': [
    'function compute_score() { postMessage("x"); return 1 }',
    'postMessage is not',
  ],
  'the network': [
    'function compute_score() { return typeof fetch === "undefined" && typeof XMLHttpRequest === "undefined" && typeof WebSocket === "undefined" && typeof Worker === "undefined" && typeof importScripts === "undefined" ? "nothing there" : 1 }',
    'nothing there',
  ],
}

/** Tried where LONG_TESTS is not set: one that is ended, one that ends itself, one that answers
 * nonsense. */
const BRIEF = new Set([
  'an endless loop',
  'a memory bomb',
  'the error of a full stack',
  'an answer changed on its way',
  'a polluted object',
])

test(
  'a program that misbehaves costs its responses the score, and the page nothing',
  LONG_ONLY,
  async ({ lab }) => {
    // Every answer that is tried takes as long as it may.
    await lab.open(`${LINK}&reward.timeout_ms=500`)
    await lab.waitForStatus('idle')
    const all = Object.entries(HOSTILE)
    const tried = process.env.LONG_TESTS ? all : all.filter(([what]) => BRIEF.has(what))
    for (const [what, [source, said]] of tried) {
      await drop(lab, `${what.replaceAll(' ', '_')}.js`, source)
      await expect(lab.get('reward-trial').locator('.problem').first(), what).toContainText(said, {
        timeout: 60_000,
      })
      await expect(lab.get('reward-trial').locator('.total').first()).toHaveText(/^0/)
    }
    expect(await lab.page.evaluate(() => ({}) as { score?: number })).toEqual({})
  },
)

test(
  'a run with a program that never ends continues, and says how many were ended',
  LONG_ONLY,
  async ({ lab }) => {
    await lab.open(`${LINK.replace('steps=40', 'steps=3')}&reward.timeout_ms=100`)
    await lab.waitForStatus('idle')
    await drop(
      lab,
      'loop.js',
      'function compute_score(_, text) { while (text.length > 2); return text.length }',
    )
    await expect(lab.get('reward-trial')).toBeVisible({ timeout: 60_000 })
    await lab.get('reward-close').click()
    await lab.get('train').click()
    await lab.waitForStatus('finished', 120_000)
    const steps = (await lab.steps()).filter(({ step }) => step > 0)
    expect(steps).toHaveLength(3)
    for (const { metrics } of steps) expect(metrics['reward/timeouts']).toBeGreaterThan(0)
  },
)

const TRL = `def exact(completions, answer, **kwargs):
    return [1.0 if text == truth else 0.0 for text, truth in zip(completions, answer)]

def short(prompts, completions, completion_ids, **kwargs):
    return [1.0 / (1 + len(ids)) for ids in completion_ids]
`
const TYPO = `def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    return 1.0 if soluton_str == ground_truth else 0.0
`

test(
  'functions of one file are parts of their own, and a reward that scores nothing is not trained on',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open(LINK)
    await lab.waitForStatus('idle')
    await drop(lab, 'trl.py', TRL)
    await expect(lab.get('reward-trial')).toContainText('exact', { timeout: 240_000 })
    await expect(page.locator('.reward-part')).toHaveCount(2)
    await expect(lab.get('reward-function-1')).toHaveValue('short')
    await expect(lab.get('reward-trial').locator('tr[data-what=right] td').nth(3)).toHaveText('1')
    await drop(lab, 'typo.py', TYPO)
    const said = /typo\.py, line 2: NameError: name 'soluton_str' is not defined/
    await expect(lab.get('reward-trial').locator('.problem').first()).toContainText(said, {
      timeout: 120_000,
    })
    await expect(page.locator('.reward-part')).toHaveCount(1)
    await lab.get('reward-close').click()
    await lab.get('train').click()
    await expect(lab.get('error')).toContainText(said, { timeout: 120_000 })
    await expect(lab.get('error')).toHaveAttribute('data-code', 'reward')
    expect(await lab.steps()).toEqual([])
  },
)
