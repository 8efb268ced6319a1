// A person's own rows: dropped on the page, trained on, and named by a link that asks for them
// where they are missing.
import { readFileSync } from 'node:fs'
import AxeBuilder from '@axe-core/playwright'
import { expect, type LabPage, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

/** 200 rows: the answer is the last of three digits. */
const ROWS = Array.from({ length: 200 }, (_, i) => {
  const digits = i.toString(6).padStart(3, '0')
  return JSON.stringify({ question: `${digits}=`, answer: digits[2] })
}).join('\n')

/** Drops a file on the page, as a person does. */
async function dropBytes(lab: LabPage, name: string, bytes: Buffer): Promise<void> {
  const transfer = await lab.page.evaluateHandle(
    ([own, text]) => {
      const data = new DataTransfer()
      const content = Uint8Array.from(atob(text), (c) => c.charCodeAt(0))
      data.items.add(new File([content], own))
      return data
    },
    [name, bytes.toString('base64')] as const,
  )
  await lab.page.dispatchEvent('body', 'drop', { dataTransfer: transfer })
}

const drop = (lab: LabPage, name: string, text: string) => dropBytes(lab, name, Buffer.from(text))

/** A rule of one's own for what is right. */
const PROGRAM = `export function compute_score(data_source, solution_str, ground_truth) {
  return solution_str === ground_truth ? 1 : 0
}`

/** Few supervised steps, so that reinforcement has something to do. */
const LINK = `v=1&p=tiny&phases=sft,rl&phases.0.steps=30&phases.1.steps=16&phases.1.target_layer=final&validation.test_freq=0&probe.freq=0&actor.optim.lr=0.003${QUICK}`

test(
  '200 rows and a reward are dropped, the settings train on them, and the reward rises',
  LONG_ONLY,
  async ({ lab, page }) => {
    test.setTimeout(240_000)
    await lab.open(LINK)
    await drop(lab, 'last digit.jsonl', ROWS)
    await expect(lab.get('data-found')).toContainText(
      '160 rows to train on, 40 rows held out; 9 tokens',
    )
    await expect(lab.get('data-prompt-key')).toHaveValue('question')
    await expect(lab.get('data-answer-key')).toHaveValue('answer')
    await expect(lab.get('lengths-prompts')).toContainText('Prompts: 4 to 4 tokens')
    const axe = await new AxeBuilder({ page }).include('.data-dialog').analyze()
    expect(axe.violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`)).toEqual([])
    await page.setViewportSize({ width: 390, height: 844 })
    const overflow = await page.evaluate(() => {
      const dialog = document.querySelector('.data-dialog') as HTMLElement
      return dialog.scrollWidth - dialog.clientWidth
    })
    expect(overflow).toBe(0)
    await page.setViewportSize({ width: 1280, height: 900 })
    await lab.get('data-use').click()
    await expect(lab.get('task-samples')).toContainText('=')
    await drop(lab, 'right.js', PROGRAM)
    await expect(lab.get('reward-trial').locator('tbody tr')).toHaveCount(9)
    await lab.get('reward-close').click()
    await lab.get('train').click()
    await lab.waitForStatus('finished', 200_000)
    const [{ metrics: last }] = (await lab.steps()).slice(-1)
    expect(last['reward/program/mean']).toBeCloseTo(last['critic/score/mean'], 12)
    const scores = (await lab.steps()).flatMap(({ metrics }) => metrics['critic/score/mean'] ?? [])
    const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length
    expect(scores).toHaveLength(16)
    expect(mean(scores.slice(-5))).toBeGreaterThan(mean(scores.slice(0, 5)) + 0.1)
  },
)

const PYTHON = `def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kwargs):
    print("asked about", solution_str, extra_info.get("num_turns"))
    return {"score": float(solution_str == ground_truth), "length": len(solution_str)}
`

test('the same with a reward in Python, which shows what it prints', LONG_ONLY, async ({ lab }) => {
  test.setTimeout(300_000)
  await lab.open(LINK.replace('phases.1.steps=16', 'phases.1.steps=10'))
  await drop(lab, 'last digit.jsonl', ROWS)
  await lab.get('data-use').click()
  await expect(lab.get('task-samples')).toContainText('=')
  await drop(lab, 'right.py', PYTHON)
  await expect(lab.get('reward-trial').locator('tbody tr')).toHaveCount(9, { timeout: 200_000 })
  await expect(lab.get('reward-printed').first()).toContainText('asked about')
  await lab.get('reward-close').click()
  await lab.get('train').click()
  await lab.waitForStatus('finished', 200_000)
  const scores = (await lab.steps()).flatMap(({ metrics }) => metrics['critic/score/mean'] ?? [])
  const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length
  expect(scores).toHaveLength(10)
  expect(mean(scores.slice(-4))).toBeGreaterThan(mean(scores.slice(0, 4)) + 0.02)
  const [{ metrics }] = (await lab.steps()).slice(-1)
  expect(metrics).toMatchObject({ 'reward/errors': 0, 'reward/timeouts': 0 })
  expect(metrics['reward/program/length/mean']).toBeGreaterThan(0)
})

test('a link without its file asks for it, refuses another one, and continues when it is dropped', async ({
  lab,
  page,
}) => {
  await lab.open(LINK)
  await drop(lab, 'last digit.jsonl', ROWS)
  await lab.get('data-use').click()
  await expect.poll(() => page.url()).toContain('task.data=sha256-')
  // As on another machine.
  await page.evaluate(async () => {
    const root = await navigator.storage.getDirectory()
    await root.removeEntry('content', { recursive: true })
  })
  await page.reload()
  const missing = lab.get('missing-files')
  await expect(missing).toContainText(
    /This experiment uses last digit\.jsonl \(sha256-[0-9a-f]{8}…\)/,
  )
  await expect(missing).toContainText('which is not on this machine. Drop it here.')
  await drop(lab, 'other.jsonl', `${ROWS}\n`)
  await expect(lab.get('file-refused')).toContainText(
    /other\.jsonl is sha256-[0-9a-f]{64}\. This experiment uses last digit\.jsonl, which is sha256-[0-9a-f]{64}/,
  )
  await drop(lab, 'found again.jsonl', ROWS)
  await expect(missing).toBeHidden()
  await lab.get('train').click()
  await lab.waitForStep(2)
  // From now on it is here.
  await page.reload()
  await expect(lab.get('task-samples')).toContainText('=')
  await expect(missing).toBeHidden()
})

test('a bundle brings the files with the experiment', async ({ lab, page }) => {
  await lab.open(LINK)
  await drop(lab, 'last digit.jsonl', ROWS)
  await lab.get('data-use').click()
  await lab.get('share-options').click()
  const coming = page.waitForEvent('download')
  await lab.get('share-bundle').click()
  const path = await (await coming).path()
  await page.evaluate(async () => {
    const root = await navigator.storage.getDirectory()
    await root.removeEntry('content', { recursive: true })
  })
  await lab.open('v=1&p=tiny')
  await dropBytes(lab, 'bundle.zip', readFileSync(path))
  await expect.poll(() => page.url()).toContain('task.data=sha256-')
  await expect(lab.get('task-samples')).toContainText('=')
  await expect(lab.get('missing-files')).toBeHidden()
})

test(
  'a tokenizer is trained for the rows, or asked for, and the dialog is legible in the dark',
  LONG_ONLY,
  async ({ lab, page }) => {
    await page.emulateMedia({ colorScheme: 'dark' })
    await lab.open(LINK)
    await drop(lab, 'last digit.jsonl', ROWS)
    await expect(lab.get('data-found')).toBeVisible()
    const axe = await new AxeBuilder({ page }).include('.data-dialog').analyze()
    expect(axe.violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`)).toEqual([])
    await lab.get('data-tokenizer').selectOption('file')
    await expect(lab.get('data-refused')).toContainText('Choose a tokenizer.json.')
    await lab
      .get('data-tokenizer-file')
      .setInputFiles({ name: 'tokenizer.json', mimeType: '', buffer: Buffer.from('{}') })
    await expect(lab.get('data-refused')).toContainText('tokenizer.json')
    await lab.get('data-tokenizer').selectOption('bpe')
    await lab.get('data-vocab-size').fill('20')
    await expect(lab.get('data-refused')).toContainText('258')
    await lab.get('data-vocab-size').fill('262')
    await expect(lab.get('data-found')).toContainText('262 tokens')
    await lab.get('data-use').click()
    await expect.poll(() => page.url()).toContain('task.tokenizer=bpe')
    expect(page.url()).toContain('task.vocab_size=262')
  },
)

test('an example is opened by a press; what is no data is refused by what it is, and nothing is changed', async ({
  lab,
  page,
}) => {
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  const url = lab.page.url()
  await page.keyboard.press('Control+k')
  await lab.get('palette-input').fill('own data')
  await page.keyboard.press('Enter')
  await lab.get('data-example').click()
  await expect(lab.get('data-found')).toContainText('320 rows to train on, 80 rows held out')
  await drop(lab, 'page.jsonl', '<!DOCTYPE html><html></html>')
  await expect(lab.get('data-refused')).toContainText(
    'page.jsonl: expected a data file, found a web page',
  )
  await drop(lab, 'ragged.csv', 'question,answer\n1,2\n3,4,5\n')
  await expect(lab.get('data-refused')).toContainText('line 3: expected 2 fields')
  expect(lab.page.url()).toBe(url)
})

test(
  'bad rows are left out by one press, and the page answers while a large file is read',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open(LINK)
    await drop(lab, 'broken.jsonl', `${ROWS}\nno JSON\n[1]`)
    await expect(lab.get('data-refused')).toContainText(
      'broken.jsonl: line 201: expected one JSON object, found text that is no JSON; 1 other row cannot be used either',
    )
    await lab.get('data-leave-out').click()
    await expect(lab.get('data-found')).toContainText(
      '2 rows left out, because they cannot be used',
    )
    await expect(lab.get('data-found')).toContainText('160 rows to train on, 40 rows held out')
    // The longest that the page's own thread stood still, while 40 MB are read.
    const longest = await page.evaluate(async () => {
      const row = JSON.stringify({ question: '123=', answer: 'x'.repeat(100) })
      const file = new File([`${row}\n`.repeat(300_000)], 'large.jsonl')
      const data = new DataTransfer()
      data.items.add(file)
      let [longest, last] = [0, performance.now()]
      const timer = setInterval(() => {
        const now = performance.now()
        longest = Math.max(longest, now - last)
        last = now
      }, 10)
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true }))
      await new Promise<void>((resolve) => {
        const watch = new MutationObserver(() => {
          const rows = document.querySelector('[data-testid=data-rows]')
          if (rows?.textContent?.includes('xxxx')) resolve()
        })
        watch.observe(document.body, { subtree: true, childList: true, characterData: true })
      })
      clearInterval(timer)
      return longest
    })
    expect(longest).toBeLessThan(2000)
    await lab.get('data-making').waitFor()
    await page.keyboard.press('Escape')
  },
)

test(
  'conversations, pairs and prompts alone are told apart, and what is not used is named',
  LONG_ONLY,
  async ({ lab }) => {
    await lab.open(LINK)
    const rows = (row: (digit: string) => object) =>
      Array.from({ length: 20 }, (_, i) => JSON.stringify(row(`${i}`))).join('\n')
    const user = (content: string) => ({ role: 'user', content })
    const assistant = (content: string) => ({ role: 'assistant', content })
    await drop(
      lab,
      'talk.jsonl',
      rows((n) => ({ messages: [user(n), assistant('1'), user('='), assistant('2')], topic: 't' })),
    )
    await expect(lab.get('data-row-format')).toHaveValue('conversations')
    await expect(lab.get('data-found')).toContainText('16 rows to train on, 4 rows held out')
    await expect(lab.get('data-found')).toContainText('Not used: topic.')
    await lab.get('data-every-turn').check()
    await expect(lab.get('data-found')).toContainText('32 rows to train on')
    await drop(
      lab,
      'prompts.jsonl',
      rows((prompt) => ({ prompt, level: 1, split: 'a' })),
    )
    await expect(lab.get('data-found')).toContainText('No column with right answers (looked for')
    await lab.get('data-use').click()
    await expect(lab.get('data-refused')).toContainText('reward.parts: expected a program')
    await drop(
      lab,
      'pairs.jsonl',
      rows((prompt) => ({ prompt, chosen: prompt, rejected: '=' })),
    )
    await expect(lab.get('data-row-format')).toHaveValue('pairs')
    await lab.get('data-use').click()
    await expect.poll(() => lab.page.url()).toContain('task.train_pairs=16')
  },
)
