// Tests what the page is served with: headers that keep other sites out, licences of what is
// shipped, and a first click in a foreign frame.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from './lab_page.ts'

/** The same server under another name is another origin. */
const elsewhere = (baseURL: string | undefined) =>
  new URL('host.html', `${baseURL}`.replace('127.0.0.1', 'localhost')).href
const framing = (baseURL: string | undefined) =>
  `<!doctype html><iframe src="${baseURL}?v=1&amp;p=tiny#embed=1" width="900" height="600"></iframe>`

test('the page comes with its headers, and works under them', async ({ page, request }) => {
  const headers = (await request.get('./')).headers()
  const policy = headers['content-security-policy']
  const stated = /Content-Security-Policy"\s+content="([^"]+)"/.exec(
    readFileSync('index.html', 'utf8'),
  )
  expect(policy).toBe(`${stated?.[1]}; frame-ancestors 'self'`)
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-embedder-policy': 'require-corp',
  })
  const documented = readFileSync('docs/hosting.md', 'utf8')
  expect(documented).toContain(`Content-Security-Policy: ${policy}\n`)
  // Who hosts the page elsewhere sends the same: the container's nginx, and hosts that read
  // `_headers`.
  const files = [
    readFileSync('hosting/nginx.conf', 'utf8'),
    readFileSync('dist/app/_headers', 'utf8'),
  ]
  const policies = [policy]
  for (const frame of ['sandbox.html', 'fetch.html'])
    policies.push((await request.get(`./${frame}`)).headers()['content-security-policy'])
  // A frame's policy is that of its own address: a query that names the frame changes nothing.
  const queried = await request.get('./?a=/sandbox.html')
  expect(queried.headers()['content-security-policy']).toBe(policy)
  for (const file of files) for (const one of policies) expect(file).toContain(one)
  const said: string[] = []
  page.on('console', (message) => message.type() === 'error' && said.push(message.text()))
  await page.goto('./?v=1&p=tiny')
  await expect(page.getByTestId('status')).toHaveAttribute('data-status', 'idle')
  expect(await page.evaluate(() => crossOriginIsolated)).toBe(true)
  expect(said).toEqual([])
})

test('the build carries the licences of all that it ships', async ({ request }) => {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  const answer = await request.get('./licenses.txt')
  expect(answer.headers()['content-type']).toContain('text/plain')
  const text = await answer.text()
  for (const name of Object.keys(dependencies)) expect(text).toContain(`## ${name} - `)
  expect(text).toMatch(/Permission is hereby granted, free of charge/)
})

test('npm start sends the same headers, and lets the sites in that are named', async ({
  request,
}) => {
  const args = [
    'scripts/start.mjs',
    '--port',
    '4610',
    '--frame-ancestors',
    "'self' https://school.example",
  ]
  const server = spawn(process.execPath, args, { env: { ...process.env, BROWSER: 'none' } })
  try {
    let said = ''
    server.stdout.on('data', (text) => {
      said += text
    })
    await expect.poll(() => said).toMatch(/Understory is at \S+/)
    const address = /Understory is at (\S+)/.exec(said)?.[1] ?? ''
    const headers = (await request.get(address)).headers()
    expect(headers['content-security-policy']).toMatch(
      /; frame-ancestors 'self' https:\/\/school\.example$/,
    )
    expect(headers['x-content-type-options']).toBe('nosniff')
  } finally {
    server.kill()
  }
})

test('another site holds the page in a frame only where the host allows it', async ({
  page,
  baseURL,
}) => {
  await page.route(elsewhere(baseURL), (route) =>
    route.fulfill({ contentType: 'text/html', body: framing(baseURL) }),
  )
  await page.goto(elsewhere(baseURL))
  // Chromium shows a page of its own in place of one that may not be held.
  await expect.poll(() => page.frames()[1]?.url()).toMatch(/^chrome-error:/)
  await expect(page.frameLocator('iframe').locator('#root')).toHaveCount(0)
})

test('in a frame of another site nothing can be trained before a click that says what it does', async ({
  page,
  baseURL,
}) => {
  await page.route(elsewhere(baseURL), (route) =>
    route.fulfill({ contentType: 'text/html', body: framing(baseURL) }),
  )
  await page.route(`${baseURL}?**`, async (route) => {
    const response = await route.fetch()
    const headers = response.headers()
    const policy = headers['content-security-policy']
    headers['content-security-policy'] = policy.replace(
      "frame-ancestors 'self'",
      'frame-ancestors *',
    )
    await route.fulfill({ response, headers })
  })
  await page.goto(elsewhere(baseURL))
  const frame = page.frameLocator('iframe')
  await expect(frame.getByTestId('frame-gate')).toContainText('inside another site')
  await expect(frame.getByTestId('train')).toHaveCount(0)
  await frame.getByTestId('frame-gate').press('t')
  await expect(frame.getByTestId('train')).toHaveCount(0)
  await frame.getByRole('button', { name: 'Use my GPU here' }).click()
  await expect(frame.getByTestId('train')).toBeEnabled()
  await expect(frame.getByTestId('status')).toHaveAttribute('data-status', 'idle')
})
