import { execFileSync } from 'node:child_process'
import { afterEach, expect, test, vi } from 'vitest'
import { ALL } from './commands.ts'

afterEach(() => vi.restoreAllMocks())

async function scriptOf(shell: string): Promise<string> {
  const written: string[] = []
  vi.spyOn(console, 'log').mockImplementation((text) => {
    written.push(`${text}\n`)
  })
  expect(await ALL.completion.run([shell])).toBe(0)
  return written.join('')
}

/** What bash offers for the last of these words. */
const offered = (script: string, words: readonly string[]): string[] => {
  const asked = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}`
  const run = `${script}\n${asked}; _lab; printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['-c', run], { encoding: 'utf8' }).trim().split('\n')
}

test('bash completes the commands, and the options of the one that is written', async () => {
  const script = await scriptOf('bash')
  expect(offered(script, ['lab', '']).sort()).toEqual(Object.keys(ALL).sort())
  expect(offered(script, ['lab', 'tr'])).toEqual(['train', 'transplant'])
  expect(offered(script, ['lab', 'train', '--see'])).toEqual(['--seed'])
  expect(offered(script, ['lab', 'adapters', '--see'])).toEqual([''])
})

test('zsh and fish have every command', async () => {
  const [zsh, fish] = [await scriptOf('zsh'), await scriptOf('fish')]
  for (const name of Object.keys(ALL)) {
    expect(zsh).toContain(name)
    expect(fish).toContain(`-a ${name} -d `)
  }
  expect(fish).toMatch(/__fish_seen_subcommand_from train' -l out -r -d '/)
})

test('another shell is refused with those that there are', async () => {
  await expect(ALL.completion.run(['tcsh'])).rejects.toThrow(/expected one of bash, zsh, fish/)
})
