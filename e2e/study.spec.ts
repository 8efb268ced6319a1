// A study in the page: two settings, three seeds, a reload in the middle of several, the forest
// plot, the link, and the command line's numbers.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { inflateRawSync } from 'node:zlib'
import { expectClean } from './axe.ts'
import { expect, LONG_ONLY, QUICK, test } from './lab_page.ts'

/** A few steps of a narrow model of one layer. */
const LINK = `v=1&p=tiny&phases=sft,rl&phases.0.steps=4&phases.1.steps=4&phases.1.target_layer=final&model.num_hidden_layers=1&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.test_freq=4&validation.prompts=8${QUICK}`

interface Kept {
  readonly seed: number
  readonly arm: string
  readonly series: object
}

/** The document of a study's link: deflated, in base64url. */
const studyOf = (link: string): Buffer =>
  inflateRawSync(Buffer.from(/&study=([\w-]+)/.exec(link)?.[1] ?? '', 'base64url'))

/** The numbers of a study without what the clock says. */
const numbers = (text: string): Kept[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map(({ arm, seed, series, costs, fingerprint }) => ({ arm, seed, series, costs, fingerprint }))
    .sort((a, b) => (`${a.arm}${a.seed}` < `${b.arm}${b.seed}` ? -1 : 1))

test(
  'two arms and three seeds reach the forest plot over a reload, their link repeats them, and so does the command line',
  LONG_ONLY,
  async ({ lab, page }) => {
    test.setTimeout(420_000)
    await lab.open(LINK)
    await lab.show('study')
    // The lab's own are in sight at once; the form comes when it is asked for.
    await expect(lab.get('study-gallery-ppo_lead')).toBeVisible()
    await lab.get('study-new').click()
    await lab.get('study-question').fill('Does a higher rate help?')
    await lab.get('study-make').click()
    await expect(lab.get('study-problem-axis.0')).toContainText('Choose a field')
    await lab.get('study-way-arms').check()
    await lab.get('study-make').click()
    await expect(lab.get('study-problem-arms')).toContainText('Add two settings')
    await expect(lab.get('study-problem-arms')).toHaveCSS('color', 'rgb(152, 48, 30)')
    await expect(lab.get('study-add-settings')).toBeFocused()
    await lab.get('study-way-values').check()
    await expect(lab.get('study-not-made')).toContainText('one field above needs a change')
    // Without a field there are no values to choose from.
    await expect(lab.get('study-kind')).toHaveCount(0)
    await lab.get('study-0-field').fill('how fast')
    await expectClean(lab, 'a field that is searched', '.study')
    await lab.get('study-0-field').press('Enter')
    await expect(lab.get('study-0-field')).toHaveAttribute('title', 'actor.optim.lr')
    await lab.get('study-values-0').fill('0.0001')
    await expect(lab.get('study-problem-axis.0')).toContainText('write a second one')
    await lab.get('study-values-0').fill('0.0001, 0.003')
    await expect(lab.get('study-runs')).toHaveText(
      /^2 arms × 5 seeds\. 10 runs in all(, about .* on this machine)?\.$/,
    )
    await expect(lab.get('study-plan-table').locator('tbody tr')).toHaveCount(2)
    await lab.get('study-kind').selectOption('halving')
    await lab.get('study-choosing').fill('5')
    await expect(lab.get('study-problem-choosing')).toContainText('the others judge')
    await lab.get('study-kind').selectOption('all')
    await lab.get('study-seeds').fill('3')
    await lab.get('study-make').click()
    await expect(lab.get('study-progress')).toContainText('0 of 6 runs')
    await expectClean(lab, 'a study that waits', '.study')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await lab.get('study-link').click()
    const link = await page.evaluate(() => navigator.clipboard.readText())
    // Meanwhile the command line trains what the link says, where LONG_TESTS is set.
    const folder = mkdtempSync(join(tmpdir(), 'understory-study-'))
    writeFileSync(join(folder, 'study.json'), studyOf(link))
    const args = ['study', join(folder, 'study.json'), '--out', join(folder, 'out'), '--seeds', '1']
    const commandLine =
      process.env.LONG_TESTS &&
      promisify(execFile)(process.execPath, ['scripts/lab.mjs', ...args, '--jobs', '2'])

    await lab.get('study-train').click()
    // Four take a step each in turn.
    const grid = lab.get('study-grid').locator('td')
    await expect(grid).toHaveCount(6)
    await expect(grid.locator('progress')).toHaveCount(4)
    await expect(lab.get('study-view')).toContainText(/step [5-8] of 8|[1-9] of 6 runs/, {
      timeout: 180_000,
    })

    await page.reload()
    // Whatever part of the page is open: they continue in the background.
    await lab.show('study')
    await expect(lab.get('study-progress')).toContainText('6 of 6 runs', { timeout: 180_000 })
    await expect(lab.get('study-grid').locator('td[data-status=done]')).toHaveCount(6)
    await expect(lab.get('study-forest')).toBeVisible()
    // Its charts are read out by keys, fill the screen and are saved.
    await lab.get('study-forest-value').press('End')
    await expect(lab.get('study-forest-value')).toHaveText(/3 seeds, p .* after Holm/)
    await lab.get('study-curves-menu').locator('summary').click()
    const table = page.waitForEvent('download')
    await lab.get('study-curves-csv').click()
    const csv = readFileSync(await (await table).path(), 'utf8')
    expect(csv.split('\n')[0]).toMatch(/^responses,.*, low.*, high/)
    await lab.get('study-curves-menu').locator('summary').click()
    await lab.get('study-curves-full-screen').click()
    await expect(lab.get('study-curves-full-values').locator('li')).toHaveCount(2)
    await page.keyboard.press('Escape')
    await expect(lab.get('study-curves-full')).toHaveCount(0)
    await expect(lab.get('study-table').locator('tbody tr')).toHaveCount(2)
    await expect(lab.get('study-answer')).not.toBeEmpty()

    const saved = async (name: string) => {
      const waiting = page.waitForEvent('download')
      await lab.get(`study-save-${name}`).click()
      return readFileSync(await (await waiting).path(), 'utf8')
    }
    const own = numbers(await saved('results.jsonl'))
    expect(own).toHaveLength(6)
    expect(await saved('report.md')).toContain('Does a higher rate help?')
    // The same in one file, with the pictures that the report shows.
    const whole = page.waitForEvent('download')
    await lab.get('study-report').click()
    const zip = readFileSync(await (await whole).path())
    for (const name of ['report.md', 'forest.svg', 'results.jsonl'])
      expect(zip.includes(name), name).toBe(true)

    // It is left and opened again with its runs; deleted once its runs were counted, and brought
    // back.
    await lab.get('study-close').click()
    await expect(lab.get('study-new')).toBeVisible()
    await expect(lab.get('study-own')).toContainText('6 runs trained')
    await expect(lab.get('study-own-answer')).toContainText('with 3 seeds')
    await lab.get('study-open').click()
    await expect(lab.get('study-progress')).toContainText('6 of 6 runs')
    await lab.get('study-delete').click()
    await expect(lab.get('study-asks')).toContainText('Its 6 trained runs go with it')
    await lab.get('study-delete-yes').click()
    await expect(lab.get('study-own')).toHaveCount(0)
    await lab.get('study-undo-delete').click()
    await expect(lab.get('study-own')).toContainText('6 runs trained')
    // Those that come with the lab are listed there, each with its answer.
    await expect(lab.get('study-gallery-layers_addition')).toContainText(
      'Worse than whole model by 19.6 to 25.6 points: layers 1–6 alone. No difference found after Holm’s correction, −2.0 to −0.7 points: BuPO, layers 1–5 first.',
    )
    const listed = lab.get('study-gallery-ppo_lead')
    const open = listed.getByRole('button', { name: 'Open the study' })
    await open.click()
    await expect(lab.get('study-progress')).toContainText('30 of 30 runs')
    await expect(lab.get('study-answer')).toContainText(
      'No difference from “32 × 8, GRPO” was found',
    )
    // It opens at its answer, in one unit, and is nobody's own once it is left.
    await expect(lab.get('study-answer')).toBeInViewport()
    await expect(lab.get('study-sentences')).toContainText(' points, 5 seeds')
    await lab.get('study-close').click()
    await expect(lab.get('study-new')).toBeInViewport()
    await expect(lab.get('study-own')).toHaveCount(1)
    await lab.get('study-search').fill('critic')
    await expect(lab.get('study-count')).toHaveText(/^1 of \d+ studies$/)
    await open.click()
    await expect(lab.get('study-progress')).toContainText('30 of 30 runs')
    await expect(lab.get('study-recorded')).toContainText('All 30 runs came with the lab')
    await expectClean(lab, 'a study that is done', '.study')
    await lab.get('study-train-here').click()
    await expect(lab.get('study-progress')).toContainText('0 of 30 runs')
    await lab.get('study-close').click()
    await expect(lab.get('study-own')).toHaveCount(2)
    for (const count of [1, 0]) {
      await lab.get('study-delete').first().click()
      await lab.get('study-delete-yes').click()
      await expect(lab.get('study-own')).toHaveCount(count)
    }
    await page.goto('about:blank')
    await page.goto(link)
    await expect(lab.get('study-progress')).toContainText('0 of 6 runs')
    await expect(lab.get('study-train')).toHaveText('Train 6 runs')

    if (commandLine) {
      await commandLine
      const text = readFileSync(join(folder, 'out/results.jsonl'), 'utf8')
      const same = numbers(text)
      expect(same).toHaveLength(2)
      // Chromium's adapter and that of the command line are one program, where it finds no other.
      if (/SwiftShader/.test(text)) expect(same).toEqual(own.filter(({ seed }) => seed === 1))
    }
    rmSync(folder, { recursive: true })
  },
)

test('Back leads from a study to the list, and from there to the part before', async ({
  lab,
  page,
}) => {
  await lab.open('p=tiny')
  await lab.show('study')
  const list = lab.get('study-gallery')
  const study = lab.get('study-view')
  const open = () =>
    lab
      .get('study-gallery-which_layer_sort_arithmetic')
      .getByRole('button', { name: 'Open the study' })
      .click()
  await open()
  await expect(study).toBeVisible()
  await page.goBack()
  await expect(list).toBeVisible()
  await page.goForward()
  await expect(study).toBeVisible()
  // The button goes the same way: the list is there once.
  await lab.get('study-close').click()
  await expect(list).toBeVisible()
  await page.goBack()
  await expect(page.getByRole('tab', { selected: true })).toHaveText(/Learning/)
  // Where the tab opens with a study, the part before is what comes before it.
  await lab.show('study')
  await open()
  await lab.show('inside')
  await lab.show('study')
  await expect(study).toBeVisible()
  await page.goBack()
  await expect(page.getByRole('tab', { selected: true })).toHaveText(/Inside/)
  await page.goBack()
  await expect(study).toBeVisible()
  await page.goBack()
  await expect(list).toBeVisible()
})

test('a study of the lab stays as it is: a copy is changed, and the settings of an arm are an edit', async ({
  lab,
  page,
}) => {
  await lab.open('p=tiny')
  await lab.show('study')
  const listed = lab.get('study-gallery-which_layer_sort_arithmetic')
  const open = listed.getByRole('button', { name: 'Open the study' })
  await open.click()
  const answer = lab.get('study-answer')
  await expect(answer).toContainText('by 13.0 [3.3, 22.8] points: layer 4 alone.')
  // No arm of it can be taken out by a slip.
  await expect(lab.get('study-table').getByRole('button')).toHaveCount(0)
  await lab.get('study-copy').click()
  await expect(lab.get('study-view').locator('h2')).toContainText('(copy)')
  // The copy is an ordinary study: the whole form has it.
  await expect(lab.get('study-form').locator('ol li')).toHaveCount(5)
  await lab.get('study-seeds').fill('6')
  await lab.get('study-make').click()
  await expect(lab.get('study-train')).toHaveText('Train 5 runs')
  await lab.get('study-fewer-seeds').click()
  await page.getByRole('button', { name: 'Take layer 4 alone out of the study' }).click()
  await expect(answer).not.toContainText('layer 4 alone')
  await expect(lab.get('study-exploratory')).toBeVisible()
  await expect(lab.get('study-recorded')).toContainText('All 20 runs came with the lab')
  await lab.get('study-undo-take-out').click()
  await expect(answer).toContainText('layer 4 alone')
  await expect(lab.get('study-exploratory')).toHaveCount(0)
  await lab.get('study-close').click()
  await open.click()
  await expect(lab.get('study-recorded')).toContainText('All 25 runs')
  await lab.get('study-close').click()
  await expect(lab.get('study-own')).toHaveCount(1)

  // Both have the same runs, which the table of runs lists once; one of them leads to its arm.
  await lab.show('runs')
  await expect(lab.get('run')).toHaveCount(25)
  await lab.get('open-run').first().click()
  await expect(lab.get('study-table').locator('tr[data-wanted]')).toHaveCount(1)
  await lab.get('study-close').click()

  await lab.get('study-gallery-layers_addition').getByTestId('study-take-arm').click()
  await expect(lab.get('preset')).toHaveValue('two-skills-grpo')
  await lab.get('undo').click()
  await expect(lab.get('preset')).toHaveValue('tiny')

  await lab.show('study')
  await lab.get('study-new').click()
  await lab.get('study-0-field').fill('rollout.temperature')
  await lab.get('study-0-field').press('Enter')
  await lab.get('study-values-0').fill('1, -2, abc')
  await lab.get('study-values-0').press('Tab')
  await expect(lab.get('study-problem-axis.0')).toContainText("got 'abc'")
  await expect(lab.get('study-question')).toHaveValue('What gives more right answers?')
  await expect(lab.get('study-no-plan')).toBeVisible()
  await lab.get('study-values-0').fill('1, 1.3')
  await expect(lab.get('study-no-plan')).toHaveCount(0)
  await expect(lab.get('study-runs')).toHaveText(/^2 arms × 5 seeds\./)
  // Once there was a plan, what takes it away is said at every letter, and the plan stays.
  await lab.get('study-values-0').fill('')
  await expect(lab.get('study-problem-axis.0')).toContainText('Write its values')
  await expect(lab.get('study-past-plan')).toBeVisible()
  await expect(lab.get('study-runs')).toHaveText(/^2 arms × 5 seeds\./)
  await lab.get('study-values-0').fill('1, 1.3')
  await expect(lab.get('study-past-plan')).toHaveCount(0)
  await lab.get('study-0-field').fill('temperatura')
  await lab.get('study-0-field').press('Tab')
  await expect(lab.get('study-0-field')).toHaveValue('temperatura')
  await expect(lab.get('study-0-field')).toHaveAccessibleDescription(
    'No field is called “temperatura”.',
  )
  await expect(lab.get('study-past-plan')).toBeVisible()
  await page.getByRole('button', { name: 'Temperature (Rollout)' }).click()
  await expect(lab.get('study-0-field')).toHaveAttribute('title', 'rollout.temperature')
  await expect(lab.get('study-past-plan')).toHaveCount(0)
})

test(
  'a preset’s link opens it beside the study where it is compared, and refuses a wrong id',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open('p=tiny-inner#tab=study&study=innner')
    await expect(page.getByRole('alert')).toContainText(
      'the study ‘innner’, which the lab does not have',
    )
    await expect(lab.get('preset')).toHaveValue('tiny-inner')
    await lab.get('open-presets').click()
    const compared = lab.get('preset-card-tiny-inner').getByRole('link')
    await expect(compared).toHaveAttribute('href', '?p=tiny-inner#tab=study&study=inner')
    // The same link a second time, after its study was left.
    for (const _ of ['once', 'again']) {
      await compared.click()
      await expect(lab.get('study-progress')).toContainText('20 of 20 runs')
      await expect(lab.get('study-table').locator('tbody tr')).toHaveCount(5)
      await expect(lab.get('preset')).toHaveValue('tiny-inner')
      await lab.get('study-close').click()
      await lab.get('open-presets').click()
    }
    await compared.click()
    await lab.get('study-train-here').click()
    await expect(lab.get('study-train')).toHaveText('Train 20 runs')
  },
)
