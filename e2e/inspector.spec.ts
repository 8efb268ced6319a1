// The token inspector on a real run: order, filters and search, colours and numbers as the worker
// sent them, all by keyboard.
import AxeBuilder from '@axe-core/playwright'
import type { LabEvent } from '../src/host/protocol/protocol.ts'
import { formatNumber } from '../src/ui/kit/format.ts'
import { expect, type LabPage, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

const LINK =
  `v=1&p=tiny&phases.0.steps=12&phases.1.steps=2&phases.2.steps=400${QUICK}` +
  '&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.test_freq=0&probe.rows=8'

type Trace = Extract<LabEvent, { type: 'trace' }>

/** Pauses after a traced step of reinforcement; nothing is traced that was not asked for. */
async function traceOne(lab: LabPage): Promise<Trace> {
  await lab.withoutMoments()
  await lab.open(LINK)
  await lab.waitForStatus('idle')
  await lab.get('tab-tokens').click()
  await lab.get('trace-along').uncheck()
  await expect(lab.get('trace-now')).toBeDisabled()
  await lab.get('train').click()
  // Before the first trace: responses without colours.
  await expect(lab.get('inspected-step')).toContainText('not traced', { timeout: 200_000 })
  await expect(lab.get('readout')).toContainText('No numbers for single tokens')
  await lab.get('trace-now').click()
  await expect(lab.get('token-numbers')).toBeVisible({ timeout: 200_000 })
  await lab.get('pause').click()
  await lab.waitForStatus('paused')
  const event = (await lab.events()).findLast(({ type }) => type === 'trace')
  if (event?.type !== 'trace') throw new Error('the worker sent no trace')
  return event
}

test(
  'responses are found, ordered, coloured and walked through',
  LONG_ONLY,
  async ({ lab, page }) => {
    const { step, table } = await traceOne(lab)
    const { samples } = table
    await expect(lab.get('inspected-step')).toHaveAttribute('data-step', `${step}`)
    await expect(lab.get('inspected-step')).toContainText(table.phase.name)
    const list = lab.get('inspector')
    const told = list.locator('li[data-place]')
    const places = async () =>
      (await told.all()).length === 0
        ? []
        : await told.evaluateAll((rows) =>
            rows.map((row) => Number(row.getAttribute('data-place'))),
          )

    // Best score first: the open group begins with the best score of the step.
    const scores = samples.map(({ score }) => score)
    const [first] = await places()
    expect(scores[first]).toBe(Math.max(...scores))
    await lab.get('inspector-order').selectOption('advantage_low')
    const advantages = samples.map(({ columns }) => columns.advantages?.[0] ?? 0)
    await expect.poll(async () => advantages[(await places())[0]]).toBe(Math.min(...advantages))

    // Groups with different scores only, and what the count says of them.
    // A prompt that was drawn twice is two groups.
    const n = samples[0].group.rewards.length
    const groups = Array.from({ length: samples.length / n }, (_, group) =>
      samples.slice(group * n, (group + 1) * n),
    )
    const differing = groups.filter((group) => new Set(group.map(({ score }) => score)).size > 1)
    await lab.get('informative-only').check()
    await expect(lab.get('bundle')).toHaveCount(differing.length)
    await lab.get('informative-only').uncheck()
    await expect(lab.get('bundle')).toHaveCount(groups.length)

    // A search in prompts and responses.
    const query = samples[0].prompt
    const hits = samples.filter(
      ({ prompt, response }) => prompt.includes(query) || response.includes(query),
    )
    const openHeads = list.locator('.bundle-head[aria-expanded="true"]')
    const opened = await openHeads.count()
    await lab.get('inspector-search').fill(query)
    await expect(lab.get('inspector-count')).toContainText(
      `${hits.length} of ${samples.length} responses`,
    )
    await lab.get('inspector-search').fill('nothing like this')
    await expect(lab.get('inspector-none')).toContainText('No response has “nothing like this”')
    await expect(lab.get('open-all')).toBeDisabled()
    // What a search finds is open; after it that is open which was before.
    await lab.get('inspector-search').fill('>')
    await expect(lab.get('open-all')).toHaveText('Close all')
    await lab.get('open-all').click()
    await expect(openHeads).toHaveCount(0)
    await lab.get('inspector-search').fill('')
    await expect(openHeads).toHaveCount(opened)

    // As sampled: the first group is open. The numbers of the token under the cursor are the
    // worker's.
    await lab.get('inspector-order').selectOption('sampled')
    const token = (place: number, t: number) =>
      list.locator(`li[data-place="${place}"] [data-t="${t}"]`)
    await token(0, 0).click()
    const number = (name: string) =>
      lab.get('token-numbers').locator(`[data-column="${name}"] dd`).getAttribute('title')
    const read = async (name: string) => Number((await number(name))?.replaceAll('−', '-'))
    for (const name of ['old_log_probs', 'advantages', 'entropy', 'ratio', 'log_probs'] as const)
      expect(await read(name), name).toBe(samples[0].columns[name]?.[0])
    await page.keyboard.press('ArrowRight')
    // A response may be its end token alone.
    const second = Math.min(1, samples[0].tokens.length - 1)
    await expect(token(0, second)).toBeFocused()
    expect(await read('old_log_probs')).toBe(samples[0].columns.old_log_probs?.[second])
    await page.keyboard.press('j')
    await expect(token(1, 0)).toBeFocused()
    await page.keyboard.press('ArrowDown')
    await expect(token(2, 0)).toBeFocused()
    await page.keyboard.press('k')
    await page.keyboard.press('k')
    await expect(token(0, 0)).toBeFocused()
    // Over the end of the group into the next.
    const size = samples[0].group.rewards.length
    for (let i = 0; i < size; i++) await page.keyboard.press('j')
    await expect(token(size, 0)).toBeFocused()

    // Every colour mode: a class where there is a number, and a reason where there is none.
    const shades = () =>
      told
        .locator('[data-t]')
        .evaluateAll((tokens) =>
          tokens.map(({ className }) => /(seq|div)-\d+/.exec(className)?.[0]),
        )
    for (const mode of [
      'advantages',
      'log_probs',
      'old_log_probs',
      'ratio',
      'moved',
      'entropy',
      'clipped',
    ]) {
      await lab.get('colour-mode').selectOption(mode)
      await expect(lab.get('colour-legend')).toBeVisible()
      expect(await shades(), mode).not.toContain(undefined)
    }
    await lab.get('colour-mode').selectOption('kl_ref')
    await expect(lab.get('colour-missing')).toContainText('no reference')
    expect(new Set(await shades())).toEqual(new Set([undefined]))
    await lab.get('colour-mode').selectOption('layer_entropy')
    await expect(lab.get('colour-missing')).toContainText(
      'were not measured when this step was traced',
    )
    await expect(lab.get('trace-now')).toBeVisible()

    await lab.get('colour-mode').selectOption('old_log_probs')
    const { violations } = await new AxeBuilder({ page })
      .include('[data-testid=inspector]')
      .analyze()
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([])

    // The same response in the seven stages.
    await lab.get('show-stages').click()
    await expect(lab.get('trace-sample')).toHaveValue(`${size}`)
    await expect(lab.get('stage-3')).toHaveAttribute('aria-current', 'step')
    await expect(lab.get('stage-says')).toBeInViewport({ ratio: 1 })
    await expect(lab.get('trace-summary')).toContainText(samples[size].prompt)

    // On a phone nothing is wider than the page.
    await page.setViewportSize({ width: 390, height: 844 })
    await expect(list.locator('[data-t]').first()).toBeVisible()
    // Tokens come first, what is known of one below them; filters are folded.
    const topOf = async (one: typeof list) => (await one.boundingBox())?.y ?? Number.NaN
    // It stands below its response once it is tapped, in sight.
    await expect(lab.get('readout')).toHaveCount(0)
    await list.locator('[data-t]').first().click()
    await expect(lab.get('token-numbers')).toBeInViewport()
    const firstToken = await topOf(list.locator('[data-t]').first())
    expect(firstToken).toBeLessThan(await topOf(lab.get('readout')))
    await expect(lab.get('inspector-search')).toBeHidden()
    await list.getByText('Colour, order and filters').click()
    await expect(lab.get('inspector-search')).toBeVisible()
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    )
    expect(overflow).toBe(0)
  },
)

test(
  'a step that is looked at next shows here and in the stages, with the entropy of any layer once it is asked for',
  LONG_ONLY,
  async ({ lab, page }) => {
    const { step, table } = await traceOne(lab)
    await lab.get('colour-mode').selectOption('layer_entropy')
    await lab.get('inspector-order').selectOption('sampled')
    await lab.get('inspector').locator('[data-t]').first().click()
    await lab.get('trace-step').click()
    await expect(lab.get('inspected-step')).not.toHaveAttribute('data-step', `${step}`)
    await lab.waitForStatus('paused')
    const next = Number(await lab.get('inspected-step').getAttribute('data-step'))
    await expect(lab.get('trace-summary')).toContainText(`Step ${next},`)
    await expect(lab.get('layers-say')).toContainText(`those after step ${next}`)

    // As the worker sent them: of the first response's first token (it may be its only one), [L+1]
    // by read-out, and how many responses have any.
    const sent = await page.evaluate((of) => {
      const event = window.labEvents.findLast((told) => told.type === 'trace' && told.step === of)
      if (event?.type !== 'trace') return undefined
      const { samples } = event.table
      const [{ layer_entropy, tokens }] = samples
      const at = (values: Float32Array | undefined) => {
        const states = (values?.length ?? 0) / tokens.length
        return Array.from(values?.slice(0, states) ?? [])
      }
      const normed = at(layer_entropy?.normed)
      return {
        // The last is the final policy, through the norm, in both.
        raw: [...at(layer_entropy?.raw).slice(0, -1), ...normed.slice(-1)],
        normed,
        whole: samples.every((sample) => sample.layer_entropy) && samples.length,
      }
    }, next)
    expect(sent?.whole).toBe(table.samples.length)
    const last = (sent?.raw.length ?? 0) - 1
    expect(last).toBeGreaterThan(1)
    await expect(lab.get('colour-layer').locator('option')).toHaveCount(last + 1)
    await expect(lab.get('colour-layer').locator('option').first()).toHaveText('embedding')

    const told = lab.get('inspector').locator('li[data-place="0"] [data-t="0"]')
    await told.focus()
    const layers = lab.get('token-layers').locator('dd')
    const shown = () =>
      layers.evaluateAll((all) => all.map((dd) => Number(dd.getAttribute('title'))))
    for (const readout of ['raw', 'normed'] as const) {
      await lab.get('colour-readout').selectOption(readout)
      await expect.poll(shown).toEqual(sent?.[readout])
      for (const layer of [0, last]) {
        await lab.get('colour-layer').selectOption(`${layer}`)
        await expect(lab.get('token-layer')).toContainText(
          layer === last ? 'the final policy' : `layer ${layer}`,
        )
        await expect(lab.get('token-layer')).toContainText(`the weights after step ${next}`)
        const shades = await lab
          .get('inspector')
          .locator('li[data-place] [data-t]')
          .evaluateAll((all) => all.map(({ className }) => /seq-\d+/.exec(className)?.[0]))
        expect(shades).not.toContain(undefined)
        const number = formatNumber(sent?.[readout][layer] ?? Number.NaN)
        expect(await told.getAttribute('aria-label')).toMatch(new RegExp(` ${number}$`))
      }
    }
    const { violations } = await new AxeBuilder({ page })
      .include('[data-testid=inspector]')
      .analyze()
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([])
  },
)

test('a wheel over the long list of responses scrolls the page, and a button shows more of it', async ({
  lab,
  page,
}) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await lab.open()
  await lab.show('tokens')
  const list = page.locator('.inspector-body .scroll')
  const below = lab.get('bundles-below').getByRole('button')
  await expect(below).toBeVisible()
  await list.evaluate((element) => element.scrollIntoView({ block: 'center' }))
  await list.hover()
  const scrolled = () => page.evaluate(() => scrollY)
  const from = await scrolled()
  await page.mouse.wheel(0, 120)
  await expect.poll(scrolled).toBeGreaterThan(from + 60)
  expect(await list.evaluate(({ scrollTop }) => scrollTop)).toBe(0)
  const { height } = (await list.boundingBox()) ?? { height: 0 }
  await below.click()
  await expect.poll(async () => (await list.boundingBox())?.height).toBeGreaterThan(1.1 * height)
})
