// Without a server the page opens and trains; a new version waits until the person wants it, and no
// page is put together from two.
import { cpSync, readdirSync, rmSync } from 'node:fs'
import { build, type PreviewServer, preview } from 'vite'
import { expect, LabPage, LONG_ONLY, QUICK, test } from './lab_page.ts'

test.use({ serviceWorkers: 'allow' })

const LINK =
  `v=1&p=tiny&phases=sft,rl&phases.0.steps=5000&phases.0.batch_size=16&phases.1.steps=2${QUICK}` +
  '&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&validation.prompts=8&validation.test_freq=0&probe.rows=8'

const COMPILED = { timeout: 200_000 }

/** Builds the page with another heading into `folder`. */
const buildSecond = (folder: string) =>
  build({
    logLevel: 'silent',
    build: { outDir: folder, emptyOutDir: true },
    plugins: [
      {
        name: 'new-version',
        enforce: 'pre',
        transform: (code, id) =>
          id.endsWith('shell/Header.tsx')
            ? code.replaceAll('Understory', 'Understory II')
            : undefined,
      },
    ],
  })

const scriptsOf = (folder: string) =>
  new Set(readdirSync(`${folder}/assets`).filter((name) => name.endsWith('.js')))

/** Scripts that the page has loaded, its workers' not included. */
const loadedBy = (lab: LabPage) =>
  lab.page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .map(({ name }) => name.split('/').at(-1) ?? '')
      .filter((name) => name.endsWith('.js') && name !== 'sw.js'),
  )

/** Everything that can be loaded later is loaded, and all of it is of one build. */
async function expectWhole(lab: LabPage, own: ReadonlySet<string>): Promise<void> {
  for (const tab of ['runs', 'tokens', 'inside', 'learn'] as const) {
    await lab.show(tab)
    await expect(lab.page.getByRole('tabpanel')).toBeVisible()
  }
  await expect(lab.get('not-loaded')).toHaveCount(0)
  await expect(lab.get('new-version')).toHaveCount(0)
  const loaded = await loadedBy(lab)
  expect(loaded.length).toBeGreaterThan(5)
  expect(loaded.filter((name) => !own.has(name))).toEqual([])
}

const isKept = (lab: LabPage) =>
  lab.page.evaluate(async () => {
    await navigator.serviceWorker.ready
    return navigator.serviceWorker.controller?.state
  })

/** Serves a folder for a test. */
async function serve(folder: string): Promise<{ server: PreviewServer; address: string }> {
  const server = await preview({
    logLevel: 'silent',
    build: { outDir: folder },
    preview: { host: '127.0.0.1', port: 0 },
  })
  return { server, address: server.resolvedUrls?.local[0] ?? '' }
}

/** Opens the page, and waits until all of it is kept for use without a connection. */
async function openKept(lab: LabPage, address: string): Promise<void> {
  await lab.open(LINK, address)
  await lab.waitForStatus('idle')
  await expect.poll(() => isKept(lab)).toBe('activated')
}

test('the page opens whole and trains without a server', LONG_ONLY, async ({ context, page }) => {
  const { server, address } = await serve('dist/app')
  const lab = new LabPage(page)
  await openKept(lab, address)
  await server.close()
  await context.setOffline(true)
  await page.reload()
  await lab.waitForStatus('idle')
  await expectWhole(lab, scriptsOf('dist/app'))
  await lab.get('train').click()
  await lab.waitForStep(3)
})

test(
  'a new version waits until it is asked for, and no page is put together from two',
  LONG_ONLY,
  async ({ context, page }, testInfo) => {
    const site = testInfo.outputPath('site')
    cpSync('dist/app', site, { recursive: true })
    const later = testInfo.outputPath('later')
    await buildSecond(later)
    const { server, address } = await serve(site)
    try {
      const first = scriptsOf(site)
      const lab = new LabPage(page)
      await openKept(lab, address)
      await lab.get('train').click()
      await lab.waitForStep(3)

      // A new version is published, and nothing of the old one is left on the server.
      rmSync(site, { recursive: true })
      cpSync(later, site, { recursive: true })
      const second = scriptsOf(site)
      expect([...second].some((name) => first.has(name) && name.startsWith('first'))).toBe(false)
      await page.evaluate(async () => (await navigator.serviceWorker.getRegistration())?.update())
      const notice = lab.get('version-ready')
      await expect(notice).toContainText('A new version is ready. The page keeps the present run')
      await expectWhole(lab, first)

      // Until it is asked for, pages that are opened are still the old one, whole.
      const other = new LabPage(await context.newPage())
      await other.open('v=1&p=tiny', address)
      await other.waitForStatus('idle')
      await expectWhole(other, first)
      await expect(other.get('version-ready')).toBeVisible()
      await other.page.close()

      // Asked for, it comes whole, and the run continues in it.
      await lab.get('load-version').click()
      await expect(page.getByRole('banner')).toContainText('Understory II')
      await lab.get('go-on').click()
      // Its kernels are compiled first.
      await expect.poll(async () => (await lab.steps()).length, COMPILED).toBeGreaterThan(0)
      await expectWhole(lab, second)
      await expect(notice).toHaveCount(0)
    } finally {
      await server.close()
    }
  },
)

test('the page can be installed', async ({ page, request }) => {
  await page.goto('./')
  const address = await page.locator('link[rel=manifest]').getAttribute('href')
  const manifest = await (await request.get(`${address}`)).json()
  expect(manifest).toMatchObject({ name: 'Understory', start_url: './', display: 'standalone' })
  for (const { src, type } of manifest.icons) {
    const icon = await request.get(src)
    expect(icon.ok(), src).toBe(true)
    expect(icon.headers()['content-type']).toBe(type)
  }
  const devtools = await page.context().newCDPSession(page)
  const { installabilityErrors } = await devtools.send('Page.getInstallabilityErrors')
  // A test's windows are like private ones, in which nothing can be installed.
  const errors = installabilityErrors.map(({ errorId }) => errorId)
  expect(errors.filter((id) => id !== 'in-incognito')).toEqual([])
})
