// Tests the limits that the system alone sets to code which has escaped from the guest into Node.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { confinement, TOOL_PATH } from './confine.ts'

const { prefix, missing } = confinement()
const [command, ...before] = prefix
/** Elsewhere programs in Python are refused, which the first test holds and escapes.test.ts
 * shows. */
const IS_NAMESPACED = prefix.length > 0
const start = { env: { PATH: TOOL_PATH, SECRET: 'of the parent' }, encoding: 'utf8' } as const

function namespaced(name: string, run: () => Promise<void> | void): void {
  if (IS_NAMESPACED) test(name, run)
}

test('a system confines, or says why it does not', () => {
  if (missing === undefined)
    expect(IS_NAMESPACED || Number.parseInt(process.versions.node, 10) >= 25).toBe(true)
  else expect(missing).toMatch(/namespaces/)
})

/** Tries each way and prints what came of it. */
const tries = (ways: Readonly<Record<string, string>>) => `
const ways = {${Object.entries(ways).map(([name, way]) => `${JSON.stringify(name)}: async () => { ${way} }`)}}
const fs = require('fs'), net = require('net'), child = require('child_process')
const reach = (...to) => new Promise((resolve) => {
  const socket = net.connect(...to).on('connect', () => resolve('open')).on('error', ({ code }) => resolve(code))
  setTimeout(() => { socket.destroy(); resolve('silence') }, 3000)
})
;(async () => {
  const said = {}
  for (const [name, way] of Object.entries(ways))
    try { said[name] = await way() } catch (error) { said[name] = error.code ?? error.message }
  console.log(JSON.stringify(said))
  process.exit()
})()`

namespaced('code in Node reaches no file, network or process of the system', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'confined-'))
  const file = join(folder, 'secret')
  const socket = join(folder, 'socket')
  writeFileSync(file, 'secret')
  const heard: string[] = []
  const listen = (to: string | number, name: string) =>
    new Promise<ReturnType<typeof createServer>>((resolve) => {
      const server = createServer(() => heard.push(name)).listen(to, () => resolve(server))
    })
  const servers = [
    await listen(0, 'port'),
    await listen(socket, 'socket'),
    await listen('\0confined-test', 'abstract socket'),
  ]
  const { port } = servers[0].address() as { port: number }
  const ways = {
    process: 'return process.pid',
    variables: 'return Object.keys(process.env).length',
    secret: `return fs.readFileSync(${JSON.stringify(file)}, 'utf8')`,
    passwd: "return fs.readFileSync('/etc/passwd', 'utf8')",
    processes: "return fs.readdirSync('/proc').length",
    root: "return fs.readdirSync('/').filter((name) => !/^(lib|usr$|etc$|nix$|gnu$|opt$|home$|root$)/.test(name)).join()",
    write: "fs.writeFileSync('/lib/confined', 'x')",
    write_root: "fs.writeFileSync('/confined', 'x')",
    shell: "return child.execFileSync('/bin/sh', ['-c', 'echo shell']).toString()",
    kill: `process.kill(${process.pid}, 0)`,
    port: `return reach(${port}, '127.0.0.1')`,
    elsewhere: "return reach(80, '1.1.1.1')",
    socket: `return reach(${JSON.stringify(socket)})`,
    abstract: "return reach('\\0confined-test')",
    name: "return require('dns').promises.lookup('example.com')",
    rights: 'process.setgroups([0])',
    memory: 'return [0, 1, 2].map(() => new Uint8Array(6e8).fill(1)).length',
  }
  const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((resolve) => {
    const told = { stdout: '', stderr: '' }
    const guest = spawn(command, [...before, '-e', tries(ways)], { env: start.env })
    guest.stdout.on('data', (text) => {
      told.stdout += text
    })
    guest.stderr.on('data', (text) => {
      told.stderr += text
    })
    guest.on('close', () => resolve(told))
  })
  for (const server of servers) server.close()
  rmSync(folder, { recursive: true })
  expect(stderr).toBe('')
  expect(heard).toEqual([])
  expect(JSON.parse(stdout)).toEqual({
    process: 1,
    variables: 0,
    secret: 'ENOENT',
    passwd: 'ENOENT',
    processes: 'ENOENT',
    root: '',
    write: 'EROFS',
    write_root: 'EROFS',
    shell: 'ENOENT',
    kill: 'ESRCH',
    port: 'ENETUNREACH',
    elsewhere: 'ENETUNREACH',
    socket: 'ENOENT',
    abstract: 'ECONNREFUSED',
    name: 'EAI_AGAIN',
    rights: 'EPERM',
    memory: 'Array buffer allocation failed',
  })
})

namespaced('a guest ends with the process that started it, even if that is killed', async () => {
  const parent = spawn(
    'sh',
    ['-c', '"$@" & echo $!; wait', 'sh', ...prefix, '-e', 'for (;;);'],
    start,
  )
  const pid = Number(
    await new Promise<string>((resolve) =>
      parent.stdout.once('data', (text) => resolve(`${text}`)),
    ),
  )
  const childrenOf = (of: number) => readFileSync(`/proc/${of}/task/${of}/children`, 'utf8').trim()
  const isThere = (of: number | string) => {
    try {
      return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${of}/status`, 'utf8'))
    } catch {
      return false
    }
  }
  await expect.poll(() => childrenOf(pid), { timeout: 10_000 }).not.toBe('')
  const guest = childrenOf(pid)
  onTestFinished(() => {
    if (isThere(guest)) process.kill(Number(guest), 'SIGKILL')
  })
  // Before it is Node it may not yet have asked to be ended with its parent.
  const program = () => readFileSync(`/proc/${guest}/cmdline`, 'utf8')
  await expect.poll(program, { timeout: 10_000 }).toMatch(/node\0-e\0for/)
  process.kill(parent.pid ?? 0, 'SIGKILL')
  await expect.poll(() => isThere(pid) || isThere(guest), { timeout: 10_000 }).toBe(false)
})

namespaced('where namespaces are forbidden the probe says why', () => {
  const forbids = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"'
  const { status, stderr } = spawnSync(
    'unshare',
    ['-Ur', 'sh', '-c', forbids, 'sh', command, ...before, '-e', '0'],
    start,
  )
  expect(status).not.toBe(0)
  expect(stderr).toMatch(/unshare/)
})
