// Tries what strangers may try: injected code, foreign addresses, links full of markup. The page
// refuses, and says so.
import type { Page } from '@playwright/test'
import { expect, test } from './lab_page.ts'

/** Violations of the page's Content-Security-Policy from now on, by directive. */
declare global {
  interface Window {
    refused: string[]
    was_injected: boolean
  }
}

/** What the page has refused since `begin`, and whether something of the attack took effect. */
const refused = (page: Page) =>
  page.evaluate(
    () =>
      new Promise<{ refused: string[]; was_injected: boolean }>((resolve) => {
        const { refused, was_injected } = window
        // Violations are told in a task of their own.
        setTimeout(() => resolve({ refused, was_injected }), 300)
      }),
  )

/** Each begins on what the ones before have left of the page. The refusals that it must come to. */
const ATTACKS: Readonly<Record<string, (page: Page) => Promise<readonly string[]>>> = {
  'an injected script does not run': async (page) => {
    await page.evaluate(() => {
      const script = document.createElement('script')
      script.textContent = 'window.was_injected = true'
      document.body.append(script)
    })
    return ['script-src-elem']
  },
  'nor does an inline handler': async (page) => {
    await page.evaluate(() => {
      const holder = document.createElement('div')
      holder.innerHTML = '<button id="bad" onclick="window.was_injected = true">x</button>'
      document.body.append(holder)
      document.getElementById('bad')?.click()
    })
    return ['script-src-attr']
  },
  'nor do injected styles apply': async (page) => {
    await page.evaluate(() => {
      const holder = document.createElement('div')
      holder.innerHTML = '<style>body { opacity: 0 }</style><p id="styled" style="opacity: 0">x</p>'
      document.body.append(holder)
      const seen = [document.body, document.getElementById('styled')]
      window.was_injected = seen.some((of) => of && getComputedStyle(of).opacity === '0')
    })
    return ['style-src-attr', 'style-src-elem']
  },
  'nothing is fetched from elsewhere, by fetch, image or socket': async (page) => {
    const answered: string[] = []
    page.on('response', (response) => answered.push(response.url()))
    const failed = await page.evaluate(async () => {
      const image = document.createElement('img')
      image.src = 'https://example.com/x.png'
      document.body.append(image)
      try {
        new WebSocket('wss://example.com/')
      } catch {
        // Refused at once.
      }
      return fetch('https://example.com/').then(
        () => false,
        () => true,
      )
    })
    expect(failed).toBe(true)
    const { origin } = new URL(page.url())
    expect(answered.filter((url) => !url.startsWith(origin))).toEqual([])
    return ['connect-src', 'connect-src', 'img-src']
  },
  'code is not made from text': async (page) => {
    // From a timer of the page: what a debugger runs itself may make code from text.
    const thrown = await page.evaluate(
      () =>
        new Promise((resolve) => {
          setTimeout(() => {
            const tries = [
              () => new Function('window.was_injected = true')(),
              // biome-ignore lint/security/noGlobalEval: the page must refuse it.
              () => window.eval('window.was_injected = true'),
            ]
            resolve(
              tries.map((attempt) => {
                try {
                  attempt()
                  return 'done'
                } catch (error) {
                  return (error as Error).name
                }
              }),
            )
          })
        }),
    )
    expect(thrown).toEqual(['EvalError', 'EvalError'])
    return ['script-src', 'script-src']
  },
  'nor does a worker from elsewhere run': async (page) => {
    await page.evaluate(() => {
      const url = URL.createObjectURL(new Blob(['postMessage(1)'], { type: 'text/javascript' }))
      try {
        new Worker(url).onmessage = () => {
          window.was_injected = true
        }
      } catch {
        // Refused at once.
      }
    })
    return ['worker-src']
  },
}

// The refusals are in the console too, so this page is not held to an empty one.
test('the Content-Security-Policy of the built page refuses injected code and foreign addresses', async ({
  page,
}) => {
  await page.goto('./')
  await expect(page.getByTestId('status')).toBeVisible()
  await page.evaluate(() => {
    addEventListener('securitypolicyviolation', ({ effectiveDirective, originalPolicy }) => {
      // The server's header says the same and who may frame the page, and reports each refusal once
      // more.
      if (!originalPolicy.includes('frame-ancestors')) window.refused.push(effectiveDirective)
    })
  })
  for (const [name, attack] of Object.entries(ATTACKS))
    await test.step(name, async () => {
      await page.evaluate(() => {
        window.refused = []
        window.was_injected = false
      })
      const wanted = await attack(page)
      const said = await refused(page)
      expect(said.refused.sort(), name).toEqual(wanted)
      expect(said.was_injected, name).toBe(false)
    })
})

const MARKUP =
  '<img src=x onerror="window.was_injected=true"><script>window.was_injected=true</script>'

test('markup in a link is text, and nothing starts by itself', async ({ lab, page }) => {
  const requested: string[] = []
  page.on('request', (request) => requested.push(request.url()))
  await lab.open(
    `preset=tiny&name=${encodeURIComponent(MARKUP)}&nonsense=${encodeURIComponent(MARKUP)}`,
  )
  await lab.waitForStatus('idle')
  await page.waitForTimeout(1000)
  await lab.waitForStatus('idle')
  expect(await page.evaluate(() => window.was_injected)).toBeUndefined()
  // The name is shown as it was written.
  const text = await page.evaluate(() => document.body.innerText)
  expect(text).toContain('onerror')
  const origin = new URL(page.url()).origin
  expect(requested.filter((url) => !url.startsWith(origin) && !url.startsWith('data:'))).toEqual([])
  expect((await lab.events()).filter(({ type }) => type === 'step')).toEqual([])
})
