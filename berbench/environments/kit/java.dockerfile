# Everything is fetched and compiled here: trials have no network. Run Maven with -o and Gradle with --offline.
WORKDIR /repo
COPY --chown=berbench . .
RUN set -u; \
    note() { echo "berbench: NOTE: $*"; }; \
    if [ -f pom.xml ]; then \
        mvn=mvn; [ ! -x ./mvnw ] || command -v mvn >/dev/null || mvn=./mvnw; \
        $mvn -B -q dependency:go-offline || note "dependency:go-offline failed"; \
        # a run that selects nothing also fetches the provider of the test framework
        $mvn -B -q test -Dtest=NoSuchTest -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false || note "the tests do not compile"; \
    elif [ -f build.gradle ] || [ -f build.gradle.kts ]; then \
        gradle=gradle; [ ! -x ./gradlew ] || gradle=./gradlew; \
        $gradle --no-daemon testClasses || note "the tests do not compile"; \
        $gradle --no-daemon test --tests NoSuchTest >/dev/null 2>&1 || true; \
    fi
