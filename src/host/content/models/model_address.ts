// Reads what a person types to say where a model lies: a name on the Hugging Face Hub, or the
// address of a folder.

/** Where a model is fetched from. */
export interface ModelAddress {
  /** As an experiment names it: hf:owner/name@revision, or the address of the folder. */
  readonly source: string
  /** What a person calls it. */
  readonly name: string
  /** The only places that may be asked, as a Content-Security-Policy names them. */
  readonly origins: readonly string[]
  /** The address of a file of the folder. */
  readonly fileAt: (file: string) => string
  /** What lists the files; undefined where they are looked for by their names. */
  readonly listing: string | undefined
}

const HUB = 'https://huggingface.co'
/** Files are sent from here: a download at the Hub is led on to one of these. */
const HUB_STORES = 'https://*.hf.co'
const HUB_NAME = /^(?:hf:)?([\w.-]{1,96}\/[\w.-]{1,96})(?:@([\w./-]{1,200}))?$/
const LOCAL = /^(localhost|127\.0\.0\.1|\[::1\])$/
const EXAMPLES =
  'Type a name such as HuggingFaceTB/SmolLM2-135M, or an address that begins with https://.'

/** Throws RangeError, with what to type, for a text that is neither. */
export function modelAddress(typed: string): ModelAddress {
  const text = typed.trim()
  const page = /^https:\/\/huggingface\.co\/([\w.-]+\/[\w.-]+)(?:\/tree\/([\w./-]+?))?\/?$/.exec(
    text,
  )
  const [, repository, revision = 'main'] = page ?? HUB_NAME.exec(text) ?? []
  if (repository !== undefined) return hubAddress(repository, revision)
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw new RangeError(`“${text.slice(0, 80)}” is no model. ${EXAMPLES}`)
  }
  const isLocal = url.protocol === 'http:' && LOCAL.test(url.hostname)
  if (url.protocol !== 'https:' && !isLocal)
    throw new RangeError(
      `A page may fetch from https:// alone, found ${url.protocol}//. ${EXAMPLES}`,
    )
  if (url.username !== '' || url.password !== '')
    throw new RangeError('The address holds a password. Leave it out: it would be shown and kept.')
  return folderAddress(url)
}

function hubAddress(repository: string, revision: string): ModelAddress {
  if (repository.split('/').some((part) => /^\.+$/.test(part)) || revision.includes('..'))
    throw new RangeError(`${repository}@${revision} is no name on the Hub. ${EXAMPLES}`)
  const at = encodeURIComponent(revision)
  return {
    source: `hf:${repository}@${revision}`,
    name: repository,
    origins: [HUB, HUB_STORES],
    fileAt: (file) => `${HUB}/${repository}/resolve/${at}/${file}`,
    listing: `${HUB}/api/models/${repository}/tree/${at}?recursive=true`,
  }
}

/** What a folder may be called: anything else could pass for a sentence where a person is asked
 * whether to fetch it. */
const FOLDER_NAME = /^[A-Za-z0-9_.-]{1,96}$/

/** The name of a folder; of the root the host's. Throws RangeError for a name that is none. */
function folderName({ hostname }: URL, path: string): string {
  const name = path.split('/').at(-2) || hostname.replaceAll(/[^A-Za-z0-9_.-]/g, '') || 'model'
  if (FOLDER_NAME.test(name)) return name
  throw new RangeError(
    `The name of a model's folder may hold at most 96 letters, digits, ".", "_" and "-", found ${JSON.stringify(name.slice(0, 80))}. Rename the folder on the server.`,
  )
}

/** A folder, or any file in it. */
function folderAddress(url: URL): ModelAddress {
  const path = url.pathname.replace(/[^/]*\.(json|safetensors|jinja)$/, '').replace(/\/?$/, '/')
  const folder = `${url.origin}${path}`
  return {
    source: folder,
    name: folderName(url, path),
    origins: [url.origin],
    // A query may hold what opens the door, such as a token of a storage.
    fileAt: (file) => `${folder}${file}${url.search}`,
    listing: undefined,
  }
}
