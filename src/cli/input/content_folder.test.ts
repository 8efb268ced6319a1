import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { testContentFolder } from '../../host/content/testing.ts'
import { diskFolder } from './content_folder.ts'

const root = mkdtempSync(join(tmpdir(), 'understory-content-'))
afterAll(() => rmSync(root, { recursive: true }))
let made = 0

testContentFolder('a folder on disk', () => diskFolder(join(root, `${made++}`, 'below')))
