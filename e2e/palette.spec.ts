// Undo, search over settings, the command palette, keys, and files that come in and go out.
import { readFileSync } from 'node:fs'
import { expect, type LabPage, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

const LINK = 'v=1&p=tiny'

const field = (lab: LabPage, path: string) => lab.get(`field-${path.replaceAll('.', '-')}`)

async function open(lab: LabPage, link = LINK): Promise<void> {
  await lab.open(link)
  await lab.waitForStatus('idle')
}

/** The palette's option that Enter would take. */
const chosen = (lab: LabPage) => lab.get('palette-list').locator('[aria-selected=true]')

test('a change of a setting is undone and redone by keys and by buttons that say what they do', async ({
  lab,
  page,
}) => {
  await open(lab)
  const seed = field(lab, 'seed')
  await expect(lab.get('undo')).toHaveAccessibleName('Nothing to undo')
  await seed.fill('42')
  await seed.blur()
  await expect(lab.get('undo')).toHaveAccessibleName('Undo Seed 1 → 42')
  await page.keyboard.press('Control+z')
  await expect(seed).toHaveValue('1')
  await expect(lab.get('toast')).toHaveText('Seed is 1 again')
  await expect(lab.get('redo')).toHaveAccessibleName('Redo Seed 1 → 42')
  await page.keyboard.press('Control+Shift+z')
  await expect(seed).toHaveValue('42')

  // What was changed is listed, and goes only by the button that says so.
  await lab.get('show-changed').click()
  await expect(lab.get('changed-setting')).toHaveText(/^Seed\s*42 preset: 1$/)
  await expect(seed).toHaveValue('42')
  await lab.get('reset-settings').click()
  await expect(seed).toHaveValue('1')
  await expect(lab.get('changed-settings')).toHaveCount(0)
  await lab.get('undo').click()
  await expect(seed).toHaveValue('42')

  // A slider that is moved by many steps at once is one change.
  const slider = page.getByRole('slider', { name: 'Length, slider' })
  await slider.focus()
  for (let i = 0; i < 60; i++) await page.keyboard.press('ArrowRight')
  const length = await field(lab, 'task.length').inputValue()
  expect(Number(length)).toBeGreaterThan(3)
  await expect(lab.get('undo')).toHaveAccessibleName(`Undo Length 3 → ${length}`)
  // The slider still has the focus; it holds no text.
  await page.keyboard.press('Control+z')
  await expect(field(lab, 'task.length')).toHaveValue('3')
  await page.keyboard.press('/')
  await expect(lab.get('settings-search')).toBeFocused()

  // A preset is a change like any other.
  await lab.get('preset').selectOption('tiny-grpo')
  await expect(seed).toHaveValue('1')
  // Its card says what runs of it did, the usual result first.
  await lab.get('intro').getByText('What you should see').click()
  await lab.get('intro').getByText('How it was measured').click()
  await expect(lab.get('intro')).toContainText(/Measured: \d+ runs?, seeds? 1\b.* on /)
  await expect(lab.get('usual-result')).toHaveText(/^Usual result: \d+–\d+ % of held-out problems/)
  await lab.get('undo').click()
  await expect(lab.get('preset')).toHaveValue('tiny')
  await expect(seed).toHaveValue('42')
  await expect.poll(() => new URL(page.url()).search).toContain('seed=42')
})

test(
  'while someone types, Ctrl+Z undoes the typing and other keys are letters',
  LONG_ONLY,
  async ({ lab, page }) => {
    await open(lab)
    await field(lab, 'seed').fill('7')
    await field(lab, 'seed').blur()
    const name = field(lab, 'name')
    await name.click()
    await name.press('End')
    await page.keyboard.type(' r?g')
    await page.keyboard.press('Control+z')
    await expect(field(lab, 'seed')).toHaveValue('7')
    await expect(lab.get('help-dialog')).toBeHidden()
    await page.keyboard.press('Control+k')
    await expect(lab.get('palette-dialog')).toBeHidden()
    await expect(lab.get('tab-learn')).toHaveAttribute('aria-selected', 'true')
  },
)

test(
  'a live field of a run is followed by the run when it is undone',
  LONG_ONLY,
  async ({ lab, page }) => {
    await open(
      lab,
      `${LINK}${QUICK}&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.prompts=8`,
    )
    await lab.get('step').click()
    await lab.waitForStatus('paused', 120_000)
    const steered = async () =>
      (await lab.events()).flatMap((event) => (event.type === 'steered' ? [event.entry] : []))
    await lab.get('settings-search').fill('phases.0.optim.lr')
    const rate = field(lab, 'phases.0.optim.lr')
    const before = await rate.inputValue()
    await rate.fill('0.002')
    await rate.blur()
    await expect.poll(async () => (await steered()).length).toBe(1)
    await expect(lab.get('pending')).toHaveCount(0)
    await page.keyboard.press('Control+z')
    await expect(rate).toHaveValue(before)
    await expect.poll(async () => (await steered()).length).toBe(2)
    expect((await steered())[1]).toMatchObject({ kind: 'set', value: Number(before) })
    await expect(lab.get('pending')).toHaveCount(0)
  },
)

test('the search finds settings by name, path and help, in every section', async ({
  lab,
  page,
}) => {
  await open(lab)
  await page.keyboard.press('/')
  const search = lab.get('settings-search')
  await expect(search).toBeFocused()
  await search.fill('batch')
  await expect(lab.get('found-count')).toContainText(/\d+ settings in \d+ sections/)
  const settings = page.getByRole('complementary', { name: 'Settings' })
  await expect(settings.getByRole('group', { name: 'Rollout', exact: true })).toContainText(
    'rollout.train_batch_size',
  )
  await expect(settings.locator('mark').first()).toHaveText(/batch/i)
  // What has no effect as the settings are can be seen too.
  await search.fill('clip')
  const idle = lab.get('found-idle')
  await idle.locator('summary').click()
  await expect(idle).toContainText('clip_cov_ratio')
  // What is mistyped is offered as it is called.
  await search.fill('leraning rate')
  await expect(lab.get('did-you-mean')).toContainText('Nothing is called so.')
  await lab.get('did-you-mean').getByRole('button').first().click()
  await expect(lab.get('found-count')).toContainText(/\d+ settings? in/)
  await expect(search).toHaveValue('Learning rate')
  // Of what has no effect the condition is said, and leads to the setting that would give it one.
  await search.fill('kl_loss_coef')
  const when = lab.get('effect-when-actor.kl_loss_coef')
  await expect(when).toHaveText('Has an effect when KL in the loss is on.')
  await when.click()
  await expect(search).toHaveValue('')
  await expect(page.locator('#field-actor-use_kl_loss')).toBeFocused()
  await search.fill('no such thing')
  await expect(lab.get('found-count')).toContainText('No setting found')
  await expect(lab.get('did-you-mean')).toHaveCount(0)
  await search.fill('vllm')
  await expect(lab.get('set-elsewhere')).toContainText('samples responses in verl')
  await lab.get('clear-search').click()
  await expect(search).toHaveValue('')
  await search.fill('batch')
  await page.keyboard.press('Escape')
  await expect(search).toHaveValue('')
  await expect(settings.locator('summary', { hasText: /^Rollout$/ })).toBeVisible()
})

test('the palette finds a command, an experiment and a setting, by keyboard alone', async ({
  lab,
  page,
}) => {
  await open(lab)
  await page.keyboard.press('Control+k')
  const input = lab.get('palette-input')
  await expect(input).toBeFocused()
  await expect(input).toHaveAttribute('aria-expanded', 'true')
  await expect(chosen(lab)).toContainText('Train')
  await page.keyboard.press('ArrowDown')
  await expect(chosen(lab)).toContainText('One step')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowUp')
  await expect(chosen(lab)).toHaveAttribute('data-command', 'theme-dark')
  await expect(input).toHaveAttribute('aria-activedescendant', /palette-option-\d+/)

  await input.fill('gpu')
  await expect(chosen(lab)).toHaveText(/Go to GPU/)
  await page.keyboard.press('Enter')
  await expect(lab.get('palette-dialog')).toBeHidden()
  await expect(lab.get('tab-gpu')).toHaveAttribute('aria-selected', 'true')

  await lab.get('commands').click()
  await input.fill('dr. grpo')
  await page.keyboard.press('Enter')
  await expect(lab.get('preset').locator('option:checked')).toHaveText('Tiny: Dr. GRPO')

  await page.keyboard.press('Control+k')
  await input.fill('hidden size')
  await page.keyboard.press('Enter')
  await expect(field(lab, 'model.hidden_size')).toBeFocused()

  await lab.get('commands').click()
  await input.fill('undo')
  await expect(chosen(lab)).toContainText('Undo open Tiny: Dr. GRPO')
  await page.keyboard.press('Escape')
  await expect(lab.get('palette-dialog')).toBeHidden()
  await expect(lab.get('commands')).toBeFocused()
  await lab.get('commands').click()
  await input.fill('qqqq')
  await expect(lab.get('palette-dialog')).toContainText('Nothing has that name')
})

test(
  'keys open the parts of the page, and the list of keys turns them off',
  LONG_ONLY,
  async ({ lab, page }) => {
    await open(lab)
    await page.keyboard.press('g')
    await page.keyboard.press('t')
    await expect(lab.get('tab-tokens')).toHaveAttribute('aria-selected', 'true')
    await page.keyboard.press('g')
    await page.keyboard.press('l')
    await expect(lab.get('tab-learn')).toHaveAttribute('aria-selected', 'true')

    await page.keyboard.press('?')
    const help = lab.get('help-dialog')
    await expect(help).toBeVisible()
    for (const [name, key] of [
      ['One step, then pause', 'S'],
      ['Search the settings', '/'],
      ['Commands', 'K'],
      ['Next and previous response', 'J'],
    ])
      await expect(help.locator('dl > div').filter({ hasText: name })).toContainText(key)
    await help.getByRole('checkbox', { name: 'Use these keys' }).uncheck()
    await page.keyboard.press('Escape')
    await expect(help).toBeHidden()
    await page.keyboard.press('/')
    await page.keyboard.press('Control+k')
    await page.keyboard.press('?')
    await expect(lab.get('palette-dialog')).toBeHidden()
    await expect(help).toBeHidden()
    await expect(lab.get('settings-search')).not.toBeFocused()
    await lab.get('help').click()
    await help.getByRole('checkbox', { name: 'Use these keys' }).check()
    await help.getByRole('button', { name: 'Close' }).click()
    await page.keyboard.press('?')
    await expect(help).toBeVisible()
  },
)

/** Drops a file onto the page, as a file manager does. */
async function drop(lab: LabPage, name: string, text: string): Promise<void> {
  const transfer = await lab.page.evaluateHandle(
    ([name, text]) => {
      const data = new DataTransfer()
      data.items.add(new File([text], name))
      return data
    },
    [name, text] as const,
  )
  // Who listens is loaded after the page is drawn.
  await expect(async () => {
    await lab.page.dispatchEvent('main', 'dragenter', { dataTransfer: transfer })
    await expect(lab.get('drop-target')).toBeVisible({ timeout: 500 })
  }).toPass({ timeout: 30_000 })
  await lab.page.dispatchEvent('main', 'drop', { dataTransfer: transfer })
  await expect(lab.get('drop-target')).toBeHidden()
}

test('an experiment is saved as a file, dropped onto the page, and undone', async ({
  lab,
  page,
}) => {
  await open(lab)
  await field(lab, 'seed').fill('99')
  await field(lab, 'seed').blur()
  await lab.get('commands').click()
  await lab.get('palette-input').fill('save exp')
  const coming = page.waitForEvent('download')
  await page.keyboard.press('Enter')
  const file = await coming
  expect(file.suggestedFilename()).toBe('tiny-sort-three-digits-seed-99.experiment.json')
  const text = readFileSync(await file.path(), 'utf8')

  await lab.get('preset').selectOption('tiny-grpo')
  await drop(lab, 'mine.json', text)
  await expect(field(lab, 'seed')).toHaveValue('99')
  await expect(lab.get('preset')).toHaveValue('tiny')
  await expect(lab.get('undo')).toHaveAccessibleName('Undo open mine.json')
  await page.keyboard.press('Control+z')
  await expect(lab.get('preset')).toHaveValue('tiny-grpo')

  // The same way by hand.
  const choosing = page.waitForEvent('filechooser')
  await page.keyboard.press('Control+k')
  await lab.get('palette-input').fill('open file')
  await page.keyboard.press('Enter')
  const chooser = await choosing
  await chooser.setFiles({
    name: 'own.json',
    mimeType: 'application/json',
    buffer: Buffer.from(text),
  })
  await expect(field(lab, 'seed')).toHaveValue('99')
})

test(
  'a file that cannot be opened says why, field by field, and changes nothing',
  LONG_ONLY,
  async ({ lab, page }) => {
    await open(lab)
    const address = page.url()
    await drop(lab, 'wrong.json', JSON.stringify({ seed: 'three', rollout: { n: 0 }, phases: [] }))
    const problem = lab.get('file-problem')
    await expect(problem).toContainText('Not opened, and nothing was changed: wrong.json')
    await expect(problem).toContainText(/Seed: expected a whole number/)
    await expect(problem).toContainText(/Responses per prompt: expected/)
    await drop(lab, 'photo.png', 'not json')
    await expect(problem).toContainText(/Not opened.*photo\.png.*Experiments can be opened here/)
    await expect(lab.get('undo')).toHaveAccessibleName('Nothing to undo')
    expect(page.url()).toBe(address)
    await problem.getByRole('button').click()
    await expect(problem).toHaveCount(0)
  },
)

test(
  'Back returns to the part before, and the button of lessons closes what it opened',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open('v=1&p=tiny')
    const selected = page.getByRole('tab', { selected: true })
    await page.getByRole('tab', { name: 'Runs' }).click()
    await page.getByRole('tab', { name: 'Study' }).click()
    await page.goBack()
    await expect(selected).toHaveText(/Runs/)
    await page.goBack()
    await expect(selected).toHaveText(/Learning/)
    await page.goForward()
    await expect(selected).toHaveText(/Runs/)

    await lab.get('open-lessons').click()
    await expect(lab.get('lessons')).toBeVisible()
    await lab.get('open-lessons').click()
    await expect(lab.get('lessons')).toBeHidden()
  },
)
