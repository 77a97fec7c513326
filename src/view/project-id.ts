/** What a project's id looks like, in a view, in the projects file and on the command line. */
export const PROJECT_ID = /^[0-9]{1,20}$/;
