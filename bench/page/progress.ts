/** Prints on the driver's terminal what is measured next. */
export function progress(what: string): void {
  console.debug(what)
}
