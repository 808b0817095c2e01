// What a first visit loads, as it comes over the wire.
import { PASSWORD } from '../data.mjs';
import { Person } from '../person.mjs';
import { wanted } from '../tools.mjs';

const MOST = 90 * 1024;
const MOST_SCRIPT = 15 * 1024;

export async function weight(stage) {
  const { data } = stage;
  const wes = await Person.arrive(stage, 'first visit');
  await wes.signIn(data.tenant, data.users.owner, PASSWORD);
  await wes.heading('Overview');
  const storageState = await wes.context.storageState();
  await wes.leave();
  for (const path of ['/', '/tasks']) {
    // Nothing is in the cache of a new one.
    const visitor = await Person.arrive(stage, 'first visit', { storageState });
    await visitor.check(`${path} is at most ${MOST / 1024} KiB, of which script ${MOST_SCRIPT / 1024}`, async () => {
      const session = await visitor.context.newCDPSession(visitor.page);
      const kinds = new Map();
      const sizes = { all: 0, Script: 0, files: 0 };
      session.on('Network.responseReceived', ({ requestId, type }) => kinds.set(requestId, type));
      session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
        sizes.all += encodedDataLength;
        sizes.files += 1;
        if (kinds.get(requestId) === 'Script') sizes.Script += encodedDataLength;
      });
      await session.send('Network.enable');
      await visitor.goto(path);
      const said = `${sizes.all} bytes in ${sizes.files} files, of which script ${sizes.Script}`;
      wanted(sizes.files >= 3 && sizes.Script > 0, `not all was seen: ${said}`);
      wanted(sizes.all <= MOST && sizes.Script <= MOST_SCRIPT, said);
      if (process.env.BROWSER_TIMES) console.log(`${path}: ${said}`);
    });
    await visitor.leave();
  }
}
