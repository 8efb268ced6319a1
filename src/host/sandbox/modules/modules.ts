// Finds Python's modules beside its own library: those that the sandbox offers (offered.json:
// packages of Pyodide's and about how many MB each is), and those that a program needs. Their files
// are put beside this one by npm run python-modules; only what is there is offered.
import offered from './offered.json'

/** A package as Pyodide's lock file has it. */
export interface LockedPackage {
  readonly file_name: string
  readonly depends: readonly string[]
  readonly imports: readonly string[]
}

/** As much of the lock file as is read here. */
export interface PackageLock {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

/** What a guest is told about its modules. */
export interface PythonModules {
  readonly offered: {
    /** Modules that can be imported, with their sizes. */
    readonly there: readonly string[]
    /** Sizes of those that could be, once they are fetched. */
    readonly fetched_later: Readonly<Record<string, string>>
  }
  /** The packages that it loads before the program begins. */
  readonly packages: Readonly<Record<string, LockedPackage>>
  /** The names under which it imports them. */
  readonly imports: readonly string[]
}

const sized = (name: string) => `about ${(offered as Record<string, number>)[name] ?? 0.1} MB`

/** Every word that may be a module's name in a program's text: too many are loaded rather than too
 * few. */
function wordsAfterImports(source: string): ReadonlySet<string> {
  const statements = source.matchAll(
    /\b(?:from|import)\b([^\n;]*(?:\\\n[^\n;]*)*)|\b(?:import_module|__import__)\s*\(\s*(["'][\w.]+["'])/g,
  )
  const words = [...statements].flatMap(([, names = '', text = '']) =>
    `${names} ${text}`.match(/[A-Za-z_]\w*/g),
  )
  return new Set(words.flatMap((word) => word ?? []))
}

/** The modules for a program. `isHere`: whether the file of a package is. */
export function modulesFor(
  source: string,
  { packages }: PackageLock,
  isHere: (file: string) => boolean,
): PythonModules {
  const known = Object.keys(offered).filter((name) => Object.hasOwn(packages, name))
  const isWhole = (name: string): boolean =>
    isHere(packages[name].file_name) && packages[name].depends.every(isWhole)
  const shown = (name: string) => packages[name].imports.filter((own) => !own.startsWith('_'))
  const there = known.filter(isWhole)
  const words = wordsAfterImports(source)
  const needed = new Set<string>()
  const need = (name: string) => {
    needed.add(name)
    packages[name].depends.forEach(need)
  }
  for (const name of there) if (packages[name].imports.some((own) => words.has(own))) need(name)
  return {
    offered: {
      there: there.map((name) => `${shown(name).at(-1) ?? name} (${sized(name)})`),
      fetched_later: Object.fromEntries(
        known
          .filter((name) => !there.includes(name))
          .flatMap((name) => packages[name].imports.map((own) => [own, sized(name)])),
      ),
    },
    packages: Object.fromEntries([...needed].map((name) => [name, packages[name]])),
    imports: [...needed].flatMap((name) => packages[name].imports.filter((own) => words.has(own))),
  }
}
