import * as fs from 'node:fs';

/** Of a named pipe it does not wait for the writer. */
const FLAGS = fs.constants.O_RDONLY | fs.constants.O_NONBLOCK;

/**
 * Opens whatever is at the path for reading, in the background, and waits for nobody. What it is
 * tells `fstat`.
 * @throws the system's error.
 */
export const openToRead = (path: string): Promise<number> =>
  new Promise((resolve, reject) => {
    fs.open(path, FLAGS, (error, fd) => {
      if (error) reject(error);
      else resolve(fd);
    });
  });
