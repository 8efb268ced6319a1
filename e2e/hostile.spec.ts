// What strangers may try: injected code, foreign addresses, links full of markup. The page refuses, and says so.
import { expect, test as plain } from '@playwright/test'
import { test } from './lab_page.ts'

/** Violations of the page's Content-Security-Policy from now on, by directive. */
declare global {
  interface Window {
    refused: string[]
    was_injected: boolean
  }
}

// The refusals are in the console too, so these pages are not held to an empty one.
plain.describe('the Content-Security-Policy of the built page', () => {
  plain.beforeEach(async ({ page }) => {
    await page.goto('./')
    await expect(page.getByTestId('status')).toBeVisible()
    await page.evaluate(() => {
      window.refused = []
      window.was_injected = false
      addEventListener('securitypolicyviolation', ({ effectiveDirective, originalPolicy }) => {
        // The server's header says the same and who may frame the page, and reports each refusal once more.
        if (!originalPolicy.includes('frame-ancestors')) window.refused.push(effectiveDirective)
      })
    })
  })

  const refused = (page: import('@playwright/test').Page) =>
    page.evaluate(
      () =>
        new Promise<{ refused: string[]; was_injected: boolean }>((resolve) => {
          const { refused, was_injected } = window
          setTimeout(() => resolve({ refused, was_injected }), 300)
        }),
    )

  plain('an injected script does not run', async ({ page }) => {
    await page.evaluate(() => {
      const script = document.createElement('script')
      script.textContent = 'window.was_injected = true'
      document.body.append(script)
    })
    expect(await refused(page)).toEqual({ refused: ['script-src-elem'], was_injected: false })
  })

  plain('nor does an inline handler', async ({ page }) => {
    await page.evaluate(() => {
      const holder = document.createElement('div')
      holder.innerHTML = '<button id="bad" onclick="window.was_injected = true">x</button>'
      document.body.append(holder)
      document.getElementById('bad')?.click()
    })
    expect(await refused(page)).toEqual({ refused: ['script-src-attr'], was_injected: false })
  })

  plain('nor do injected styles apply', async ({ page }) => {
    await page.evaluate(() => {
      const holder = document.createElement('div')
      holder.innerHTML = '<style>body { opacity: 0 }</style><p id="bad" style="opacity: 0">x</p>'
      document.body.append(holder)
      const seen = [document.body, document.getElementById('bad')]
      window.was_injected = seen.some((of) => of && getComputedStyle(of).opacity === '0')
    })
    const { refused: directives, was_injected } = await refused(page)
    expect(directives.toSorted()).toEqual(['style-src-attr', 'style-src-elem'])
    expect(was_injected).toBe(false)
  })

  plain('nothing is fetched from elsewhere, by fetch, image or socket', async ({ page }) => {
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
    const said = (await refused(page)).refused.sort()
    expect(said).toEqual(['connect-src', 'connect-src', 'img-src'])
    const { origin } = new URL(page.url())
    expect(answered.filter((url) => !url.startsWith(origin))).toEqual([])
  })

  plain(
    'code is not made from text, in the page or in a worker from elsewhere',
    async ({ page }) => {
      // From a timer of the page: what a debugger runs itself may make code from text.
      const is_refused = await page.evaluate(
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
      expect(is_refused).toEqual(['EvalError', 'EvalError'])
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
      expect((await refused(page)).was_injected).toBe(false)
    },
  )
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
