// biome-ignore-all lint/correctness/noUnusedVariables lint/correctness/noUndeclaredVariables: guest_code.ts joins these texts into one.
// The guest in a worker of the sandbox frame: the first message brings the program, every later one calls.

function serveWorker(scope) {
  const post = scope.postMessage.bind(scope)
  const listen = scope.addEventListener.bind(scope, 'message')
  const { createObjectURL } = URL
  const { Blob } = scope
  /** Imports one of the files, a module. */
  const load = (files, name) =>
    import(createObjectURL(new Blob([files[name]], { type: 'text/javascript' })))
  let program
  const open = async (order) => {
    program = await openProgram(scope, order, (name) => load(order.files, name))
    post(stringify({ ready: true }))
  }
  listen(({ data }) => {
    if (program) for (const line of answers(program, data)) post(line)
    else open(data).catch((error) => post(stringify({ ready: false, error: messageOf(error) })))
  })
}
serveWorker(self)
