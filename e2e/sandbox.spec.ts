// The sandbox by itself (public/sandbox.html): what code gains that has made its way out of the
// guest. Every attempt runs as a bare worker in the frame.
import { expect, type Page, test } from '@playwright/test'

/** What a bare worker in the sandbox says first, or why it was ended. */
async function inSandbox(page: Page, code: string): Promise<string> {
  return page.evaluate(async (code) => {
    const frame = document.createElement('iframe')
    frame.setAttribute('sandbox', 'allow-scripts')
    frame.src = 'sandbox.html'
    const { port1, port2 } = new MessageChannel()
    const said = new Promise<string>((resolve) => {
      port1.onmessage = ({ data }) => {
        if (data.open) port1.postMessage({ start: { code, order: '' } })
        else resolve(data.line ?? `ended: ${data.ended}`)
      }
    })
    frame.onload = () => frame.contentWindow?.postMessage('', '*', [port2])
    document.body.append(frame)
    const silence = new Promise<string>((resolve) => setTimeout(resolve, 20_000, 'silence'))
    const answer = await Promise.race([said, silence])
    frame.remove()
    return answer
  }, code)
}

/** An expression, which may be a promise, as its value or the name of its error. */
const tried = (expression: string) =>
  `onmessage = async () => { let said; try { said = String(await (${expression})) } catch (error) { said = error.name }; postMessage(said) }`

const REFUSED: Readonly<Record<string, readonly [string, RegExp]>> = {
  'an origin of its own': ['self.origin', /^null$/],
  'fetch of the app': ['fetch(HOME + "licenses.txt?escape")', /^TypeError$/],
  'fetch of another site': ['fetch("https://example.com/?escape")', /^TypeError$/],
  'fetch without CORS': ['fetch(HOME + "?escape", { mode: "no-cors" })', /^TypeError$/],
  XMLHttpRequest: [
    '(() => { const r = new XMLHttpRequest(); r.open("GET", HOME + "?escape", false); r.send() })()',
    /^NetworkError$/,
  ],
  WebSocket: [
    'new Promise((done) => { const s = new WebSocket(HOME.replace("http", "ws") + "?escape"); s.onopen = () => done("open"); s.onerror = () => done("refused") })',
    /^refused|SecurityError$/,
  ],
  EventSource: [
    'new Promise((done) => { const s = new EventSource(HOME + "?escape"); s.onopen = () => done("open"); s.onerror = () => done("refused") })',
    /^refused$/,
  ],
  WebTransport: ['new WebTransport("https://127.0.0.1:9/?escape").ready', /Error$/],
  importScripts: ['importScripts(HOME + "?escape")', /^NetworkError$/],
  'import()': ['import(HOME + "?escape")', /^TypeError$/],
  'a worker of another site': [
    'new Promise((done) => { const w = new Worker(HOME + "?escape"); w.onmessage = () => done("open"); w.onerror = () => done("refused") })',
    /^refused|SecurityError$/,
  ],
  'a worker from a blob, whose requests are refused too': [
    `new Promise((done) => {
      const code = 'fetch("' + HOME + '?escape").then(() => postMessage("open"), () => postMessage("refused"))'
      const w = new Worker(URL.createObjectURL(new Blob([code])))
      w.onmessage = ({ data }) => done(data)
      w.onerror = () => done("refused")
    })`,
    /^refused$/,
  ],
  'code made of a text': ['new Function("return 1")()', /^EvalError$/],
  IndexedDB: [
    'new Promise((done) => { const r = indexedDB.open("understory"); r.onsuccess = () => done("open"); r.onerror = () => done("refused") })',
    /^refused|SecurityError$/,
  ],
  caches: ['caches.keys()', /Error$/],
  'the private file system': ['navigator.storage.getDirectory()', /Error$/],
  cookies: ['typeof cookieStore + typeof document', /^undefinedundefined$/],
  'a GPU': ['typeof navigator.gpu?.requestAdapter', /^undefined$/],
  'parent, top, windows, forms and navigation': [
    '[typeof parent, typeof top, typeof open, typeof window, typeof location.assign, typeof HTMLFormElement].join()',
    /^(undefined,?){6}$/,
  ],
  'a message to the app’s tabs': [
    '(() => { new BroadcastChannel("escape").postMessage(1); return "said" })()',
    /^said$/,
  ],
}

test.beforeEach(async ({ page }) => {
  await page.goto('./licenses.txt')
})

for (const [what, [expression, expected]] of Object.entries(REFUSED))
  test(`in the sandbox: ${what}`, async ({ page, baseURL }) => {
    const requested: string[] = []
    page.on('response', (response) => requested.push(response.url()))
    await page.evaluate(() => {
      new BroadcastChannel('escape').onmessage = () => document.body.append('heard')
    })
    const code = `const HOME = ${JSON.stringify(baseURL)};${tried(expression)}`
    expect(await inSandbox(page, code)).toMatch(expected)
    expect(requested.filter((address) => address.includes('escape'))).toEqual([])
    await expect(page.locator('body')).not.toContainText('heard')
  })

test('a worker that says more than it was asked is ended', async ({ page }) => {
  const flood = 'onmessage = () => { for (let i = 0; i < 1e6; i++) postMessage("x") }'
  expect(await inSandbox(page, flood)).toBe('x')
  const early = 'for (let i = 0; i < 1e6; i++) postMessage(i)'
  expect(await inSandbox(page, early)).toBe('ended: it said something that is no line')
  const long = 'onmessage = () => postMessage("x".repeat(1e8))'
  expect(await inSandbox(page, long)).toBe('ended: it said something that is no line')
})

test('where neither a header nor a frame makes a sandbox of it, it does nothing', async ({
  page,
}) => {
  await page.route('**/sandbox.html', async (route) => {
    const response = await route.fetch()
    const { 'content-security-policy': _, ...headers } = response.headers()
    await route.fulfill({ response, headers })
  })
  const heard = await page.evaluate(async () => {
    const frame = document.createElement('iframe')
    frame.src = 'sandbox.html'
    const { port1, port2 } = new MessageChannel()
    const said = new Promise<string>((resolve) => {
      port1.onmessage = () => resolve('open')
      setTimeout(resolve, 2000, 'silence')
    })
    frame.onload = () => frame.contentWindow?.postMessage('', '*', [port2])
    document.body.append(frame)
    return said
  })
  expect(heard).toBe('silence')
})
