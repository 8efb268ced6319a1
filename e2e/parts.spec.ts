// Tests what a person meets in one run: a part of the page that throws, a pause, a phase in
// between, a new version, another preset.
import { expect, LabPage, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

/** More than are taken: on a busy machine the page is slower than its worker. */
const WARM = 900
const LINK =
  `v=1&p=tiny&phases=sft,rl&phases.0.steps=${WARM}&phases.0.batch_size=16&phases.1.steps=2${QUICK}` +
  '&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.prompts=8&validation.test_freq=0&probe.rows=8'

/** What plots are made with fails, then what numbers are made with. */
function breakPlots(): void {
  const canvas = CanvasRenderingContext2D.prototype
  const { clip } = canvas
  const formats = Intl.NumberFormat.prototype
  const format = Object.getOwnPropertyDescriptor(formats, 'format')
  canvas.clip = () => {
    throw new Error('no clip')
  }
  Object.assign(window, {
    breakNumbers: () => {
      Object.defineProperty(formats, 'format', {
        configurable: true,
        get: () => {
          throw new Error('no words for numbers')
        },
      })
    },
    mend: () => {
      canvas.clip = clip
      if (format) Object.defineProperty(formats, 'format', format)
    },
  })
}

test(
  'a part that throws breaks alone, a pause is said at once, and a run outlives a new version and makes room',
  LONG_ONLY,
  async ({ context, page }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    // Its console is not empty: React tells of every part that threw, the browser of every file
    // that did not come.
    const lab = new LabPage(page)
    await page.setViewportSize({ width: 1440, height: 900 })
    await lab.open(LINK)
    await lab.waitForStatus('idle')
    await lab.get('train').click()
    await lab.waitForStep(2)

    // The charts throw while they are painted, the numbers while they are rendered, which charts
    // do, too: so they come second.
    await page.evaluate(breakPlots)
    const broken = lab.get('broken-part')
    await expect(broken.filter({ hasText: 'The chart of the reward cannot' })).toBeVisible()
    await page.evaluate(() => Reflect.get(window, 'breakNumbers')())
    await expect(broken.filter({ hasText: 'The numbers cannot be shown' })).toBeVisible()
    await expect(lab.get('pause')).toBeEnabled()
    await expect(lab.get('tab-inside')).toBeVisible()
    const { length } = await lab.steps()
    await expect.poll(async () => (await lab.steps()).length).toBeGreaterThan(length + 3)
    await lab.get('copy-part-report').first().click()
    await expect(lab.get('toast')).toContainText('Report copied')
    const report = await page.evaluate(() => navigator.clipboard.readText())
    expect(report).toContain('The numbers: Error: no words for numbers')
    expect(report).toContain('Error: no clip')
    await page.evaluate(() => Reflect.get(window, 'mend')())
    while ((await broken.count()) > 0) await lab.get('try-part-again').first().click()
    await expect(lab.get('step-count')).toBeVisible()
    await expect(lab.get('reward-chart')).toBeVisible()

    // The words change with the click, and not with the answer of the worker.
    await page.evaluate(() => {
      const said: string[] = []
      const status = document.querySelector('[data-testid="status"]')
      const hear = () => said.push(status?.textContent ?? '')
      if (status) new MutationObserver(hear).observe(status, { subtree: true, characterData: true })
      Object.assign(window, { said })
    })
    await lab.get('pause').click()
    await lab.waitForStatus('paused')
    expect(await page.evaluate(() => Reflect.get(window, 'said'))).toContain(
      'pausing after this step',
    )

    // What stays in sight while the page is scrolled covers nothing.
    await page.mouse.move(1000, 600)
    await page.mouse.wheel(0, 900)
    await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(300)
    const edges = await page.evaluate(() => {
      const box = (part: string) => document.querySelector(part)?.getBoundingClientRect()
      return [box('.bar')?.bottom ?? Number.NaN, box('.settings-head')?.top ?? Number.NaN]
    })
    expect(edges[1]).toBeGreaterThanOrEqual(edges[0])
    await page.evaluate(() => scrollTo(0, 0))

    // A phase in between: what it would drop is said, and the rest can follow it.
    await lab.get('add-phase').click()
    // The count of steps is drawn a moment after the status.
    const left = async () => WARM - (await lab.number('step-count'))
    const inserted = lab.get('insert-now')
    await expect
      .poll(async () => (await inserted.innerText()) === `Begin now, drop ${await left()} steps`)
      .toBe(true)
    const at = WARM - (await left())
    await expect(lab.get('insert-drops')).toHaveText(`“warm start” has ${WARM - at} steps left.`)
    await lab.get('add-phase-kind').selectOption('grpo')
    await lab.get('add-phase-steps').fill('1')
    await lab.get('insert-and-resume').click()
    await expect(lab.get('phases').getByRole('listitem')).toHaveCount(4)
    await expect(lab.get('numbers')).toContainText(`of ${WARM + 3}`)

    // The server has another version by now, and no longer the files of this one.
    const replaced = '<!doctype html><script type="module" src="./assets/index-later.js"></script>'
    await page.route(/\/assets\/RunsTab-/, (route) => route.fulfill({ status: 404, body: 'gone' }))
    await page.route(
      (url) => url.pathname === '/',
      (route) => route.fulfill({ body: replaced, contentType: 'text/html' }),
    )
    await lab.show('runs')
    await expect(lab.get('new-version')).toContainText('a new version of this page was published')
    await expect(lab.get('new-version')).toContainText('The page keeps the present run first')
    await page.unrouteAll()
    await lab.get('reload-page').click()
    await lab.get('go-on').click()
    // The warm start continues after the phase in between, and is ended by hand.
    await lab.waitForStep(at + 2)
    await lab.get('next-phase').click()
    await lab.waitForStatus('finished', 200_000)
    const last = (await lab.steps()).at(-1)?.step ?? 0
    expect(last).toBeGreaterThanOrEqual(at + 4)
    await expect(lab.get('step-count')).toHaveText(`${last}`)

    // Another preset shows itself, and nothing of that run; undo brings the run back.
    await lab.get('preset').selectOption('tiny-grpo')
    await lab.waitForStatus('idle')
    await expect(lab.get('train')).toHaveText('Train')
    await expect(lab.get('step-count')).toHaveText('–')
    await lab.show('learn')
    await expect(lab.get('intro')).toContainText('Nothing leaves the browser')
    await page.locator('body').press('ControlOrMeta+z')
    await lab.waitForStatus('finished')
    await expect(lab.get('step-count')).toHaveText(`${last}`)
    await expect(lab.get('train')).toHaveText('Train again')
    await lab.get('preset').selectOption('tiny-grpo')
    await lab.show('runs')
    await expect(lab.get('run')).toHaveCount(1)
    await expect(lab.get('run')).toContainText('finished')
    await lab.get('open-run').click()
    await expect(lab.get('step-count')).toHaveText(`${last}`)
  },
)
