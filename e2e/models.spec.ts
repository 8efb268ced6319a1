// Real models: opened from a folder or an address, looked into, compared, written with, kept and
// forgotten.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import AxeBuilder from '@axe-core/playwright'
import type { Page } from '@playwright/test'
import { unzipSync } from 'fflate'
import { readSafetensors } from '../src/formats/safetensors.ts'
import { expect, LabPage, LONG_ONLY, test as ownTest, QUICK } from './lab_page.ts'
import { type ModelServer, serveModel, tinyModel } from './tiny_models.ts'
import { test } from './warm_page.ts'
import { unfoldWriting } from './writing.ts'

let qwen: string
let llama: string
let server: ModelServer
let other: ModelServer

test.beforeAll(async () => {
  qwen = await tinyModel('qwen3')
  llama = await tinyModel('llama', 2)
  other = await serveModel(qwen)
  server = await serveModel(qwen, other.origin)
})
test.afterAll(() => {
  server.close()
  other.close()
  for (const folder of [qwen, llama]) rmSync(join(folder, '..'), { recursive: true })
})

async function command(lab: LabPage, text: string): Promise<void> {
  await lab.page.keyboard.press('Control+k')
  await lab.get('palette-input').fill(text)
  await lab.page.keyboard.press('Enter')
}

const FRAME = '[data-testid=model-fetch-frame]'
const agree = (page: Page) =>
  page.frameLocator(FRAME).getByRole('button', { name: 'Allow' }).click()

/** Looks for a model at an address, and agrees to ask there. */
async function find(lab: LabPage, address: string): Promise<void> {
  await lab.get('model-address').fill(address)
  await lab.get('model-find').click()
  await agree(lab.page)
}

test(
  'a dropped folder is looked into, compared with a chosen one, and answers',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open('v=1&p=tiny')
    await lab.waitForStatus('idle')
    await lab.drop(qwen)
    await expect(lab.get('model-facts')).toContainText(
      'qwen3, 2 layers of 32 channels, 280 tokens',
      {
        timeout: 120_000,
      },
    )
    await lab.get('chat-text').fill('the cat sat')
    await lab.get('model-changes').check()
    await lab.get('model-parts').check()
    await lab.get('model-read').click()
    await expect(lab.get('model-grid').locator('tbody tr')).toHaveCount(3)
    await expect(lab.get('model-dh').locator('tbody tr')).toHaveCount(2)
    await expect(lab.get('text-parts-says')).toContainText('a token of this text')
    await lab.get('text-parts-value').press('End')
    await expect(lab.get('text-parts-value')).toHaveText(/^without the feed-forward of .* nats$/)
    await lab.get('model-parts').uncheck()

    // What it takes to train it is drawn, and on a phone nothing is wider than the dialog.
    const memory = page.locator('.model-memory')
    await expect(memory.locator('[data-use="full"]')).toContainText('fits')
    await expect(memory.locator('tr')).toHaveCount(2)
    await page.setViewportSize({ width: 390, height: 844 })
    const wider = () =>
      page.locator('.model-dialog').evaluate((box) => box.scrollWidth - box.clientWidth)
    await expect.poll(wider).toBe(0)
    await page.setViewportSize({ width: 1440, height: 900 })

    await lab.get('model-beside').check()
    const again = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: /Open another model/ }).click()
    await (await again).setFiles(llama)
    await expect(lab.get('model-facts-second')).toContainText('llama, 2 layers')
    await lab.get('model-read').click()
    await expect(lab.get('model-grid-second').locator('tbody tr')).toHaveCount(3)
    const entropies = lab.get('model-entropies').locator('tr[data-layer="2"] td[data-value]')
    await expect(entropies).toHaveCount(4)
    const [own, , its] = await entropies.evaluateAll((cells) =>
      cells.map((cell) => Number((cell as HTMLElement).dataset.value)),
    )
    expect(own).not.toBeCloseTo(its, 6)

    await lab.get('chat-max_tokens').fill('12')
    await lab.get('chat-text').fill('a cat')
    await lab.get('chat-send').click()
    const parts = lab.get('chat-parts').getByRole('button')
    await expect(parts.first()).toBeEnabled({ timeout: 120_000 })
    expect(await parts.count()).toBeGreaterThan(0)
    expect(await parts.count()).toBeLessThanOrEqual(12)
    expect(Number(await parts.first().getAttribute('data-entropy'))).toBeGreaterThan(0)
    await parts.last().click()
    await expect(lab.get('model-grid').locator('tbody tr')).toHaveCount(3)
    await expect(lab.get('chat-answer')).not.toBeEmpty()

    // A text is continued, and again with a direction in the states.
    await lab.get('chat-raw').check()
    await lab.get('chat-max_tokens').fill('1')
    await lab.get('chat-text').fill('a cat')
    await lab.get('chat-send').click()
    await expect(parts).toHaveCount(1)
    await expect(parts.first()).toBeEnabled({ timeout: 120_000 })
    const unsteered = await parts.first().getAttribute('data-entropy')
    await lab.get('steer').locator('summary').click()
    await lab.get('steer-toward').fill('a cat')
    await lab.get('steer-away').fill('the dog')
    await lab.get('steer-make').click()
    await lab.get('steer-strength').fill('8')
    await lab.get('chat-send').click()
    await expect(parts.first()).toBeEnabled({ timeout: 120_000 })
    expect(await parts.first().getAttribute('data-entropy')).not.toBe(unsteered)
    const { violations } = await new AxeBuilder({ page }).include('.model-dialog').analyze()
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`)).toEqual([])
  },
)

test('an address is asked only when the person agrees; the model is kept, opened again and forgotten', async ({
  lab,
  page,
}) => {
  await lab.open('v=1&p=tiny')
  await lab.waitForStatus('idle')
  await command(lab, 'open a model')
  await lab.get('model-address').fill(`${server.origin}/good/`)
  await lab.get('model-find').click()
  const frame = page.frameLocator(FRAME)
  await expect(frame.locator('#places')).toHaveText(server.origin)
  await expect(frame.getByText('Fetch good from there?')).toBeVisible()
  expect(server.asked).toEqual([])
  await frame.getByRole('button', { name: 'Not now' }).click()
  await expect(lab.get('model-problem')).toContainText('nothing was fetched')
  expect(server.asked).toEqual([])

  await find(lab, `${server.origin}/good/config.json`)
  await expect(lab.get('model-found')).toContainText('qwen3')
  await expect(lab.get('model-found').locator('[data-use="full"]')).toContainText('fits')
  const weights = ({ path }: { path: string }) => path.endsWith('model.safetensors')
  expect(server.asked.filter(weights).map(({ range }) => range)).toEqual(['bytes=0-0'])
  await lab.get('model-fetch').click()
  await expect(lab.get('model-facts')).toContainText('280 tokens', { timeout: 120_000 })
  await expect(lab.get('models-kept')).toContainText('good')
  expect(other.asked).toEqual([])

  const before = server.asked.length
  await page.reload()
  await lab.waitForStatus('idle')
  await lab.get('open-model').click()
  await lab.get('models-kept').getByRole('button', { name: 'Open' }).click()
  await expect(lab.get('model-facts')).toContainText('280 tokens', { timeout: 120_000 })
  await lab.get('models-kept').getByRole('button', { name: 'Forget' }).click()
  await expect(lab.get('models-kept')).toBeHidden()
  expect(server.asked.length).toBe(before)
})

const ROWS = Array.from({ length: 120 }, (_, i) =>
  JSON.stringify({ question: `the ${i % 2 ? 'cat' : 'dog'} ${i} `, answer: i % 2 ? 'sat' : 'ran' }),
).join('\n')

/** Few short rows, and points for long responses: those of an adapter become long within nine
 * steps. */
const LONG = encodeURIComponent(
  JSON.stringify([{ id: 'length', shortest: 24, longest: 100, slope: 24 }]),
)
const RUN = `v=1&p=tiny-grpo&phases=rl&phases.0.steps=9&rollout.train_batch_size=8&rollout.n=8&actor.ppo_mini_batch_size=8&actor.optim.lr=0.03&rollout.max_response_length=8&validation.test_freq=0&validation.prompts=4&reward.parts=${LONG}${QUICK}`

/** Chooses a folder in the dialog of the palette, or in that of the model. */
async function choose(lab: LabPage, folder: string, press: () => Promise<void>): Promise<void> {
  const choosing = lab.page.waitForEvent('filechooser')
  await press()
  await (await choosing).setFiles(folder)
}

/** Takes the run away as one of the dialog's formats; returns the folder. */
async function exported(lab: LabPage, format: string): Promise<string> {
  await command(lab, 'export a model')
  await lab.get(`export-to-${format}`).check()
  const coming = lab.page.waitForEvent('download')
  await lab.get('export-download').click()
  const zip = unzipSync(readFileSync(await (await coming).path()))
  const parent = mkdtempSync(join(tmpdir(), 'understory-trained-'))
  for (const [path, bytes] of Object.entries(zip)) {
    mkdirSync(join(parent, dirname(path)), { recursive: true })
    writeFileSync(join(parent, path), bytes)
  }
  await lab.page.keyboard.press('Escape')
  return join(parent, Object.keys(zip)[0].split('/')[0])
}

/** The likeliest continuation that the open model writes. */
async function continuation(lab: LabPage): Promise<string[]> {
  await unfoldWriting(lab)
  await lab.get('chat-temperature').fill('0')
  await lab.get('chat-max_tokens').fill('6')
  await lab.get('chat-text').fill('a cat')
  await lab.get('chat-send').click()
  const parts = lab.get('chat-parts').getByRole('button')
  await expect(parts.first()).toBeEnabled({ timeout: 120_000 })
  return parts.allInnerTexts()
}

for (const family of ['qwen3', 'llama'])
  test(`an adapter of a ${family} learns, leaves, comes back`, LONG_ONLY, async ({ lab, page }) => {
    const model = family === 'qwen3' ? qwen : llama
    await lab.open(RUN)
    await lab.waitForStatus('idle')
    await choose(lab, model, () => command(lab, 'open folder'))
    await lab.get('model-lora').check({ timeout: 120_000 })
    await lab.get('model-train').click()
    await expect(lab.get('toast')).toContainText(
      `The next run begins with tiny-${family}. Choose the rows`,
    )
    await lab
      .get('data-file')
      .setInputFiles({ name: 'rows.jsonl', mimeType: '', buffer: Buffer.from(ROWS) })
    await expect(lab.get('data-found')).toContainText('280 tokens')
    await lab.get('data-use').click()
    await expect(lab.get('data-dialog')).toBeHidden()
    await expect.poll(() => page.url()).toContain('model.source=sha256-')
    await lab.get('train').click()
    await lab.waitForStatus('finished', 240_000)
    const scores = (await lab.steps()).flatMap(({ step, metrics }) =>
      step > 0 ? [metrics['critic/score/mean']] : [],
    )
    expect(Math.max(...scores.slice(-2))).toBeGreaterThan(scores[0] + 0.2)

    const adapter = await exported(lab, 'peft')
    const merged = await exported(lab, 'hf')
    const embeddingOf = (own: string) =>
      readSafetensors(readFileSync(join(own, 'model.safetensors')), own).tensors.get(
        'model.embed_tokens.weight',
      )?.data
    // The base is frozen: the run began with the file's own weights and left them.
    expect(embeddingOf(merged)).toEqual(embeddingOf(model))
    rmSync(join(adapter, 'base'), { recursive: true })
    await choose(lab, model, () => command(lab, 'open folder'))
    await expect(lab.get('model-facts')).toContainText('280 tokens', { timeout: 120_000 })
    await choose(lab, adapter, () =>
      page.getByRole('button', { name: /or an adapter of this one/ }).click(),
    )
    await expect(lab.get('model-facts')).toContainText('is merged into it', { timeout: 120_000 })
    const own = await continuation(lab)
    await choose(lab, merged, () =>
      page.getByRole('button', { name: /or an adapter of this one/ }).click(),
    )
    await expect(lab.get('model-facts')).not.toContainText('is merged into it', {
      timeout: 120_000,
    })
    expect(await continuation(lab)).toEqual(own)
    for (const folder of [adapter, merged]) rmSync(join(folder, '..'), { recursive: true })
  })

// What a server does wrong stands in the console too, so these have a page whose console is not
// watched.
test(
  'a server without ranges or permission, or that leads elsewhere, is refused in a sentence; a cut download continues',
  LONG_ONLY,
  async ({ page }) => {
    const lab = new LabPage(page)
    await lab.open('v=1&p=tiny')
    await lab.waitForStatus('idle')
    await command(lab, 'open a model')
    const problem = lab.get('model-problem')
    await find(lab, `${server.origin}/nocors/`)
    await expect(problem).toContainText('does not allow pages of other sites (CORS)')
    await find(lab, `${server.origin}/empty/`)
    await expect(problem).toContainText('empty holds no config.json')
    const led = other.asked.length
    await find(lab, `${server.origin}/away/`)
    await expect(problem).toContainText('leads on to another site than the one you allowed')
    expect(other.asked.length).toBe(led)
    // Small files may come whole.
    await find(lab, `${server.origin}/noranges/`)
    await expect(lab.get('model-found')).toContainText('qwen3')
    await find(lab, `${server.origin}/cut/`)
    await expect(lab.get('model-found')).toContainText('qwen3')
    await lab.get('model-fetch').click()
    await expect(lab.get('model-facts')).toContainText('280 tokens', { timeout: 120_000 })
    const ranges = server.asked.flatMap(({ path, range }) =>
      path === '/cut/tokenizer.json' || path === '/cut/model.safetensors' ? [range] : [],
    )
    expect(ranges.some((range) => /^bytes=1\d{3}-|^bytes=[1-9]\d{2}-/.test(range ?? ''))).toBe(true)
  },
)

ownTest(
  'a download that a person stops continues with what is there',
  LONG_ONLY,
  async ({ page }) => {
    const lab = new LabPage(page)
    await lab.open('v=1&p=tiny')
    await lab.waitForStatus('idle')
    await command(lab, 'open a model')
    await find(lab, `${server.origin}/stop/`)
    await expect(lab.get('model-found')).toContainText('qwen3')
    await lab.get('model-fetch').click()
    const weights = () => server.asked.filter(({ path }) => path === '/stop/model.safetensors')
    await expect.poll(() => weights().length).toBe(2)
    await lab.get('model-cancel').click()
    await expect(lab.get('model-problem')).toContainText('What has arrived is kept.')
    await find(lab, `${server.origin}/stop/`)
    await expect(lab.get('model-found')).toContainText('are here already')
    await lab.get('model-fetch').click()
    await expect(lab.get('model-facts')).toContainText('280 tokens', { timeout: 120_000 })
  },
)

ownTest('a closed tab continues with what is there', LONG_ONLY, async ({ page, context }) => {
  const lab = new LabPage(page)
  await lab.open('v=1&p=tiny')
  await lab.waitForStatus('idle')
  await command(lab, 'open a model')
  await find(lab, `${server.origin}/stall/`)
  await expect(lab.get('model-found')).toContainText('qwen3')
  await lab.get('model-fetch').click()
  const weights = () => server.asked.filter(({ path }) => path === '/stall/model.safetensors')
  // After the byte that tells the size, the request that never ends.
  await expect.poll(() => weights().length).toBe(2)
  await page.close()

  const again = new LabPage(await context.newPage())
  await again.open('v=1&p=tiny')
  await again.waitForStatus('idle')
  await command(again, 'open a model')
  await expect(again.get('models-kept')).toContainText('not whole')
  const small = server.asked.filter(({ path }) => path === '/stall/tokenizer.json').length
  await find(again, `${server.origin}/stall/`)
  await expect(again.get('model-found')).toContainText('are here already')
  await again.get('model-fetch').click()
  await expect(again.get('model-facts')).toContainText('280 tokens', { timeout: 120_000 })
  // Its size is asked for once more, and its bytes are not.
  const asked = server.asked.filter(({ path }) => path === '/stall/tokenizer.json')
  expect(asked.slice(small).map(({ range }) => range)).toEqual(['bytes=0-0'])
})
