"""Makes a release and tries how it is installed; CONTRIBUTING.md says what a person does before and after."""
